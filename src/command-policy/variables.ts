/** Variables that change only how programs print. */
const HARMLESS =
  /^(?:CI|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|NODE_ENV)$/;

/** Variables that choose what a program runs, loads or obeys. */
const STEERING = new RegExp(
  `^(?:${[
    'PATH|IFS|ENV|BASH.*|SHELL|SHELLOPTS|PS[0-9]|PROMPT_COMMAND|CDPATH|GLOBIGNORE|EXECIGNORE|FUNCNEST|HOME|TMPDIR|XDG_.*|POSIXLY_CORRECT',
    'LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|MALLOC_.*|GLIBC_.*|TERMINFO.*|TERMCAP',
    'GIT_.*|SSH_.*|GPG_.*|HG.*|SVN_.*|.*PAGER|.*EDITOR|VISUAL|BROWSER|.*ASKPASS|LESS.*|MORE|MANOPT|GREP_.*|RIPGREP_.*|FZF_.*|LONGHAUL_.*',
    'NODE_.*|NPM_.*|npm_.*|YARN_.*|COREPACK_.*|PYTHON.*|PIP_.*|VIRTUAL_ENV|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA.*|JDK_.*|_JAVA.*|CLASSPATH|.*_OPTIONS|.*_OPTS|PHP.*|LUA_.*',
    'CC|CXX|CPP|LD|AR|AS|MAKE.*|.*FLAGS|RUSTC.*|CARGO.*|GO.*|CMAKE_.*|TAR.*|GZIP|BZIP.*|XZ_.*|ZSTD_.*|DOCKER_.*|KUBECONFIG|AWS_.*|.*_PROXY|.*_proxy',
  ].join('|')})$`,
);

/** Variables that may be shown: no secret is in them. */
const SHOWN =
  /^(?:[a-z][a-z0-9_]*|HOME|PWD|OLDPWD|USER|LOGNAME|UID|EUID|SHELL|PATH|LANG|TERM|HOSTNAME|HOSTTYPE|OSTYPE|MACHTYPE|BASH_VERSION|SHLVL|RANDOM|SECONDS|LINENO|IFS|NODE_ENV|CI|[0-9@*#?!$_-])$/;

/** @param text `NAME=VALUE`, the value as it is: one with a slash could be the name of a file */
export function isHarmlessAssignment(text: string): boolean {
  const [name = '', ...value] = text.split('=');
  return HARMLESS.test(name) && /^[\w.,:@+-]*$/.test(value.join('='));
}

export function isSteeringVariable(name: string): boolean {
  return STEERING.test(name) && !HARMLESS.test(name);
}

export function isShownVariable(name: string): boolean {
  return SHOWN.test(name);
}
