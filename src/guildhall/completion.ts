// `guildhall completion SHELL`: prints a script for the shell. It asks the program itself for its words, so that they are
// always those of the installed version.

import { completing, parseCommandLine, runs } from "../lib/program/program.ts";

const scripts: Record<string, string> = {
	bash: `_guildhall() {
	local program=
	case \${COMP_WORDS[COMP_CWORD - 1]} in --directory | --from) COMPREPLY=() && return ;; esac
	[ "$COMP_CWORD" -gt 1 ] && program=\${COMP_WORDS[1]}
	COMPREPLY=($(compgen -W "$(${completing}=1 guildhall $program 2>/dev/null </dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _guildhall guildhall`,
	zsh: `#compdef guildhall
_guildhall() {
	local program=
	(( CURRENT > 2 )) && program=$words[2]
	compadd -- \${(f)"$(${completing}=1 guildhall $program 2>/dev/null </dev/null)"} || _files
}
# As a file of zsh's path, this is the function's first call.
if [[ $funcstack[1] = _guildhall ]]; then _guildhall; else compdef _guildhall guildhall; fi`,
	fish: `complete -c guildhall -n __fish_use_subcommand -f -a '(${completing}=1 guildhall </dev/null 2>/dev/null)'
complete -c guildhall -n 'not __fish_use_subcommand' -a '(${completing}=1 guildhall (commandline -opc)[2] </dev/null 2>/dev/null)'`,
};

const usage = () => `Usage: ${runs("completion")} ${Object.keys(scripts).join(" | ")}

Prints a script that completes the programs and options of guildhall:

  bash  guildhall completion bash > ~/.local/share/bash-completion/completions/guildhall
  zsh   guildhall completion zsh > /usr/local/share/zsh/site-functions/_guildhall
  fish  guildhall completion fish > ~/.config/fish/completions/guildhall.fish`;

const given: string[] = [];
parseCommandLine(usage, {}, given, Object.keys(scripts));
const script = given.length === 1 ? scripts[given[0] ?? ""] : undefined;
if (!script) {
	console.error(usage());
	process.exit(2);
}
console.log(script);
