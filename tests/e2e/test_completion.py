"""Completion in the shells that it is for.

tests/app/completion_test.cpp says what is offered for which line; these tests ask each shell, without a person at its keyboard, what it
makes of that: bash by its completion function with the variables that bash sets for it, zsh by its completion widget in a
pseudo-terminal, fish by `complete -C`. A shell that is missing is a skip with its name.
"""

import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import support

# Lines up to the cursor, and the words offered there, in any order. No word of these has a blank.
OFFERS = {
    "rec": ["recommend"],
    "nothing": [],
    "tune st": ["step"],
    "--errors json prio": ["priority"],
    "recommend --format ": ["json", "table"],
    "recommend --policy requ": ["request.json", "requests.ndjson"],
    "recommend requ": ["request.json", "requests.ndjson"],
    "recommend -o x --outp": [],
    "run --html pa": ["page.html"],
    "run --set tuning.or": ["tuning.order="],
    "check requ": ["request.json", "requests.ndjson", "requeue_accounting"],
    "check request.json requests.n": ["requests.ndjson"],
    "completion zsh f": [],
}


class Shells(unittest.TestCase):
    def start(self, shell: str) -> None:
        """The shell's script, and a folder with a few files."""
        if not shutil.which(shell):
            raise unittest.SkipTest(f"{shell} is not installed")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("request.json", "requests.ndjson", "two words.json", "page.html"):
            (self.folder / name).touch()
        (self.folder / ".home").mkdir()
        self.script = self.folder / ".home" / f"tidegate.{shell}"
        done = support.run("completion", shell)
        self.assertEqual((done.rc, done.stderr), (0, ""))
        self.script.write_text(done.stdout, encoding="utf-8")

    def execute(self, *command: str, **env: str) -> str:
        """The standard output of a shell that knows nothing of the person who runs the test."""
        clean = {"PATH": f"{Path(support.binary()).parent}:/usr/bin:/bin", "HOME": str(self.script.parent), "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(command, cwd=self.folder, env=clean | env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=support.PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def check(self, offered: str) -> None:
        """Words, a line each, and --- after those of each line that was asked about."""
        answers = [part.split("\n") for part in offered.split("---\n")[:-1]]
        self.assertEqual({line: sorted(re.split("\t", word)[0] for word in found if word) for line, found in zip(OFFERS, answers, strict=True)},
                         {line: sorted(words) for line, words in OFFERS.items()})

    def test_bash(self) -> None:
        """What the function leaves in COMPREPLY when it is called as bash does; a candidate is quoted for the shell, without its meaning."""
        self.start("bash")
        source = f"source {shlex.quote(str(self.script))}"
        program = ["set -eu", source]
        for line in OFFERS:
            whole, current = f"tidegate {line}", re.split("[ =]", line)[-1]  # as readline takes a line apart
            program += [f"COMP_LINE={shlex.quote(whole)} COMP_POINT={len(whole)}", f"_tidegate tidegate {shlex.quote(current)}",
                        'printf "%s\\n" ${COMPREPLY[@]+"${COMPREPLY[@]}"} ---']
        bash = "bash", "--norc", "--noprofile", "-c"
        self.check(self.execute(*bash, "\n".join(program)))
        (self.folder / "tidegate").write_text("#!/bin/sh\nprintf 'gpu\\tThe first\\nA (b) c\\n'\n", encoding="utf-8")
        (self.folder / "tidegate").chmod(0o755)
        self.assertEqual(self.execute(*bash, f"{source}; PATH={self.folder}:$PATH; COMP_LINE='tidegate run --device ' COMP_POINT=22; "
                                      "_tidegate tidegate '' --device; printf '%s\n' \"${COMPREPLY[@]}\""), "gpu\nA\\ \\(b\\)\\ c\n")

    # Asks for the completions of each line in a file; answers with the words that are added, and --- after each line.
    PROBE = r"""
PROMPT= LISTMAX=10000
setopt no_beep
autoload -Uz compinit
compinit -u -D; source %(script)s
compadd() {
  if [[ " ${@[1,(i)-(|-)]} " == *\ -[a-zA-Z]#[OAD]\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a added
  builtin compadd -A added "$@"
  (( $#added )) && print -rl -- "$added[@]" >>answers
  builtin compadd "$@"
}
probe() {
  _main_complete
  compstate[insert]= compstate[list]=
}
zle -C probe complete-word probe
zle-line-init() {
  local line
  for line in "${(@f)$(<lines)}"; do
    BUFFER="tidegate ${line#>}" CURSOR=$#BUFFER
    zle probe
    print -r -- --- >>answers
  done
  exit
}
zle -N zle-line-init
"""

    def test_zsh(self) -> None:
        self.start("zsh")
        (self.script.parent / ".zshrc").write_text(self.PROBE % {"script": shlex.quote(str(self.script))}, encoding="utf-8")
        (self.folder / "lines").write_text("".join(f">{line}\n" for line in OFFERS))
        (self.folder / "answers").write_text("")
        self.execute("zsh", "-f", "-c", "zmodload zsh/zpty && zpty shell zsh -d -i && while zpty -r shell >/dev/null; do :; done; true",
                     ZDOTDIR=str(self.script.parent))
        self.check((self.folder / "answers").read_text(encoding="utf-8"))

    def test_fish(self) -> None:
        self.start("fish")
        lines = [f"complete -C{shlex.quote('tidegate ' + line)}; echo ---" for line in OFFERS]
        self.check(self.execute("fish", "--no-config", "-c", "\n".join([f"source {shlex.quote(str(self.script))}", *lines])))
