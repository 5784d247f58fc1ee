import type { ArithmeticExpression, ParameterExpansionPart, ParsedScript, SyntaxNode } from 'unbash';
import { isShownVariable, isSteeringVariable } from './variables.js';

/** What the words of a command hold that bash carries out before it runs the command. */
export interface Expansions {
  /** Of command and process substitutions. */
  scripts: ParsedScript[];
  /** Why they are not known to only read. */
  unsafe?: string;
  /** Why it cannot be seen what they run. */
  hidden?: string;
}

/** Looks through nodes of the syntax tree, without entering the scripts in them. */
export function expansionsIn(
  nodes: readonly SyntaxNode[],
  children: (node: SyntaxNode, each: (child: SyntaxNode) => void) => void,
): Expansions {
  const found: Expansions = { scripts: [] };
  const pending = [...nodes];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.type === 'Script') {
      found.scripts.push(node);
      continue;
    }
    note(node, found);
    children(node, (child) => pending.push(child));
  }
  return found;
}

function note(node: SyntaxNode, found: Expansions): void {
  switch (node.type) {
    case 'SimpleExpansion':
      noteVariable(node.text.slice(1), found);
      return;
    case 'ParameterExpansion':
      noteParameter(node, found);
      return;
    case 'ArithmeticExpansion':
      if (!isNumeric(node.expression)) found.hidden ??= arithmetic(node.text);
      return;
    case 'Assignment':
      if (node.index !== undefined && !isPlainIndex(node.index.value)) found.hidden ??= arithmetic(node.text);
      return;
    case 'TestUnary':
      if (node.operator === '-v' || node.operator === '-R') found.hidden ??= arithmetic(node.operand.text);
      return;
    case 'TestBinary': {
      const isArithmetic = /^-(eq|ne|lt|le|gt|ge)$/.test(node.operator);
      const isKnown = [node.left, node.right].every((one) => /^-?\d+$/.test(one.value));
      if (isArithmetic && !isKnown) found.hidden ??= arithmetic(node.operator);
      return;
    }
    default:
      return;
  }
}

/** Bash evaluates the values of variables in arithmetic, and runs the substitutions in their subscripts. */
function arithmetic(text: string): string {
  return `${text} could evaluate what a variable holds`;
}

function noteVariable(name: string, found: Expansions): void {
  if (!isShownVariable(name)) found.unsafe ??= `it uses the variable ${name}, which could hold a secret`;
}

function noteParameter(node: ParameterExpansionPart, found: Expansions): void {
  const { parameter, prefix, index, operation, text } = node;
  noteVariable(parameter, found);
  if (prefix === '!') found.hidden ??= `${text} is what another variable names`;
  if (index !== undefined && !isPlainIndex(index.value)) found.hidden ??= arithmetic(text);
  switch (operation?.type) {
    case undefined:
    case 'Remove':
    case 'Replace':
    case 'CaseModification':
      return;
    case 'Default':
      if (!operation.operator.includes('=')) return;
      found.unsafe ??= `${text} sets a variable`;
      if (isSteeringVariable(parameter)) found.hidden ??= `it sets ${parameter}, which changes what runs`;
      return;
    case 'Slice':
      if ([operation.offset, operation.length].some((one) => one !== undefined && !/^\s*\d*\s*$/.test(one.value))) {
        found.hidden ??= arithmetic(text);
      }
      return;
    case 'Transform':
      if (/^\s*P/.test(operation.operand.value) || operation.operand.parts)
        found.hidden ??= `${text} runs what it finds`;
      return;
    case 'Names':
    case 'Unknown':
      found.hidden ??= `${text} is not known`;
  }
}

function isPlainIndex(text: string): boolean {
  return /^(\d+|@|\*)$/.test(text);
}

/** Only of numbers: no name whose value bash would evaluate. */
export function isNumeric(expression: ArithmeticExpression | undefined): boolean {
  if (!expression) return false;
  switch (expression.type) {
    case 'ArithmeticWord':
      return expression.parts === undefined && /^[0-9]+$/.test(expression.value);
    case 'ArithmeticGroup':
      return isNumeric(expression.expression);
    case 'ArithmeticUnary':
      return isNumeric(expression.operand);
    case 'ArithmeticBinary':
      return isNumeric(expression.left) && isNumeric(expression.right);
    case 'ArithmeticTernary':
      return [expression.test, expression.consequent, expression.alternate].every(isNumeric);
    case 'ArithmeticCommandExpansion':
      return false;
  }
}
