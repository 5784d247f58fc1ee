import { editDistance } from '../domain/nearest.js';

const NEAR_YES_OR_NO = /^(?:y+|n+|yep|yup|yeah|yea|nope|nah|ok|okay|sure)$/;

/** Whether a word was probably meant as yes or no, but is neither: too little to let an effect happen, or not. */
export function nearYesOrNo(typed: string): boolean {
  const word = typed.toLowerCase().replace(/[.!?]+$/, '');
  if (!/^[a-z]+$/.test(word)) return false;
  return NEAR_YES_OR_NO.test(word) || ['yes', 'no'].some((button) => editDistance(word, button) <= 1);
}
