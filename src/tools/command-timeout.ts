/** Limits of a command's time, ms: those of the original with `--yolo`; without it a cap, so that nothing runs for ever. */
export const LONG_COMMAND_MS = 300_000;
export const UNATTENDED_COMMAND_MS = 30_000;
export const ATTENDED_COMMAND_MS = 600_000;
/** The longest that a call may ask for, ms. */
export const MAX_COMMAND_MS = 24 * 3600 * 1000;

const LONG_COMMANDS: readonly RegExp[] = [
  /^(npm|pnpm|yarn|bun)\s+(ci|i|install|add|update|upgrade|rebuild|run|exec|test|t|build|start|audit|dlx)\b/,
  /^yarn(\s+-|\s*$)/,
  /^(npx|pnpx|bunx)\s/,
  /^(python[\d.]*\s+-m\s+)?(pip[\d.]*|pipx|uv|poetry|pdm|conda|mamba)\s+(install|sync|lock|update|download|add|run|create|build|wheel|pip)\b/,
  /^cargo\s+(build|test|run|check|clippy|install|bench|doc|nextest|update|fetch)\b/,
  /^go\s+(build|test|run|install|get|mod|generate|vet)\b/,
  /^(\S*\/)?(mvnw?|gradlew?|make|gmake|cmake|ctest|ninja|bazel|meson|sbt|ant|msbuild|xcodebuild)(\s|$)/,
  /^dotnet\s+(build|test|run|restore|publish)\b/,
  /^(bundle|gem|composer|mix|swift|stack|cabal)\s+(install|update|require|build|test|deps\.get|exec|run)\b/,
  /^(python[\d.]*\s+-m\s+)?(pytest|tox|nox|unittest)\b/,
  /^(jest|vitest|mocha|ava|playwright|cypress|karma|rspec|phpunit|tsc|webpack|vite|rollup|eslint)(\s|$)/,
  /^node\s+(--\S+\s+)*--test\b/,
  /^(docker|podman|nerdctl)\s+(compose\s+)?(build|pull|push|run|up|buildx)\b/,
  /^docker-compose\s/,
  /^(apt|apt-get|dnf|yum|apk|pacman|brew)\s/,
  /^(torchrun|accelerate|deepspeed)\s/,
  /^(python[\d.]*|uv run)\s+\S*(train|finetune|fine_tune)\S*\.py\b/,
  /^(ffmpeg|git\s+(clone|fetch|pull|lfs)|rsync|terraform|ansible-playbook)(\s|$)/,
];

/** How much of a simple command is looked at. */
const MAX_HEAD_CHARS = 1000;

/** Whether a command is of a kind that is known to take long: builds, installations, test runs. */
export function isLongCommand(command: string): boolean {
  return command
    .split(/&&|\|\||[;|\n&]/)
    .map((part) =>
      part
        .trim()
        .slice(0, MAX_HEAD_CHARS)
        .replace(/^(\(|\{|time\s|sudo\s|env\s|nice\s|exec\s|[A-Za-z_]\w*=\S*\s|\s)+/, ''),
    )
    .some((part) => LONG_COMMANDS.some((pattern) => pattern.test(part)));
}

/** How long a command may take, ms. @param asked the call's own `timeout`, seconds */
export function commandTimeout(command: string, asked: number | undefined, yolo: boolean): number {
  if (asked !== undefined) return Math.min(Math.ceil(asked * 1000), MAX_COMMAND_MS);
  if (!yolo) return ATTENDED_COMMAND_MS;
  return isLongCommand(command) ? LONG_COMMAND_MS : UNATTENDED_COMMAND_MS;
}
