"""Completion in the shells that it is for, and the manual page in groff.

tests/app/completion_test.cpp says what is offered for which line; these tests ask each shell, without a person at its
keyboard, what it makes of that. bash is asked by calling the completion function with the variables that bash sets for
it, zsh by running its completion widget in a pseudo-terminal and listening to what is added, fish by `complete -C`. A
shell that is missing is a skip with its name.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import support

FILES = ["request.json", "requests.ndjson", "two words.json", "page.html"]

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
    "run --report p": ["page.html"],
    "run --set tuning.or": ["tuning.order="],
    "check requ": ["request.json", "requests.ndjson", "requeue_accounting"],
    "check request.json requests.n": ["requests.ndjson"],
    "completion zsh f": [],
}

PATH = f"{Path(support.binary()).parent}:{os.environ['PATH']}"


class Shell(unittest.TestCase):
    """What the tests of the shells share: the script, and a folder with a few files."""

    shell = ""
    folder: Path
    script: Path

    @classmethod
    def setUpClass(cls) -> None:
        if not shutil.which(cls.shell):
            raise unittest.SkipTest(f"{cls.shell} is not installed")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        for name in FILES:
            (cls.folder / name).touch()
        home = cls.folder / ".home"
        home.mkdir()
        cls.script = home / f"tidegate.{cls.shell}"
        done = support.run("completion", cls.shell)
        assert done.rc == 0 and not done.stderr, done
        cls.script.write_text(done.stdout, encoding="utf-8")

    def execute(self, *command: str, env: dict[str, str] | None = None) -> str:
        """The standard output of a shell that knows nothing of the person who runs the test."""
        clean = {"PATH": PATH, "HOME": str(self.script.parent), "TERM": "xterm",
                 "LC_ALL": "C.UTF-8", **(env or {})}
        done = subprocess.run(command, cwd=self.folder, env=clean, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=support.PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), done.stdout.decode())
        return done.stdout.decode()

    def check(self, offers: dict[str, list[str]], offered: dict[str, list[str]]) -> None:
        self.assertEqual(list(offered), list(offers), "answers to the lines that were asked about")
        for line, words in offers.items():
            with self.subTest(f"tidegate {line}"):
                self.assertEqual(sorted(offered[line]), sorted(words))

class Bash(Shell):
    shell = "bash"

    def offers(self, lines: list[str], breaks: str = " \t\n\"'><=;|&(:") -> dict[str, list[str]]:
        """What the function leaves in COMPREPLY when it is called as bash does."""
        program = ["set -eu", f"COMP_WORDBREAKS={shlex.quote(breaks)}",
                   f"source {shlex.quote(str(self.script))}"]
        for line in lines:
            # As readline takes a line apart: at blanks, and around the "=" if that is a word break.
            words = line.split(" ")
            if "=" in breaks:
                words = [part for word in words for part in re.split("(=)", word)]
                words = words[:-1] if words[-2:] == ["=", ""] else words
            current = "" if words[-1] == "=" else words[-1]
            whole = f"tidegate {line}"
            previous = ["tidegate", *words][-2]
            program += [
                f"COMP_WORDS=(tidegate {shlex.join(words)}) COMP_CWORD={len(words)}",
                f"COMP_LINE={shlex.quote(whole)} COMP_POINT={len(whole)}",
                f"_tidegate tidegate {shlex.quote(current)} {shlex.quote(previous)}",
                'printf "%s\\n" ${COMPREPLY[@]+"${COMPREPLY[@]}"} ---']
        output = self.execute("bash", "--norc", "--noprofile", "-c", "\n".join(program))
        answers = [part.split("\n") for part in output.split("---\n")[:-1]]
        return {line: [word for word in words if word] for line, words in zip(lines, answers)}

    def test_offers(self) -> None:
        self.check(OFFERS, self.offers(list(OFFERS)))

    def test_names_with_blanks(self) -> None:
        """A candidate is quoted for the shell, and its meaning is left out."""
        (self.folder / "tidegate").write_text("#!/bin/sh\nprintf 'gpu\\tThe first\\nA (b) c\\n'\n", encoding="utf-8")
        (self.folder / "tidegate").chmod(0o755)
        self.addCleanup((self.folder / "tidegate").unlink)
        script = f"source {shlex.quote(str(self.script))}; PATH={self.folder}:$PATH; COMP_WORDS=(tidegate run --device '') " \
                 "COMP_CWORD=3; _tidegate tidegate '' --device; printf '%s\n' \"${COMPREPLY[@]}\""
        self.assertEqual(self.execute("bash", "--norc", "--noprofile", "-c", script), "gpu\nA\\ \\(b\\)\\ c\n")

    def test_at_a_keyboard(self) -> None:
        """Through readline itself, which has to quote a file name and to add the blank."""
        lines = {"tidegate reco\t--fo\tta\ttw\t":
                 "tidegate recommend --format table two\\ words.json ",
                 "tidegate reco\t--format=t\t--ou\ttwo\\ \t":
                 "tidegate recommend --format=table --output two\\ words.json ",
                 "tidegate check \"two\t": "tidegate check \"two words.json\" "}
        setup = (f"PS1= PS2=; source {shlex.quote(str(self.script))}; "
                 "bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; "
                 "show() { printf '%s\\n' \"$READLINE_LINE\" >>answers; READLINE_LINE=; }; "
                 "bind -x '\"\\C-t\": show'\n")
        (self.folder / ".home" / "setup").write_text(setup, encoding="utf-8")
        for typed, completed in lines.items():
            with self.subTest(typed):
                self.assertEqual(self.type_into_bash(typed), completed)

    def type_into_bash(self, typed: str) -> str:
        answers = self.folder / "answers"
        answers.unlink(missing_ok=True)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(shutil.which("bash") or "",
                      ["bash", "--noprofile", "--rcfile", ".home/setup", "-i"],
                      {"PATH": PATH, "HOME": str(self.script.parent), "TERM": "dumb"})
        try:
            os.write(terminal, (typed + "\x14").encode())
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                text = answers.read_text(encoding="utf-8") if answers.exists() else ""
                if text.endswith("\n"):
                    return text[:-1]
                if select.select([terminal], [], [], 0.05)[0]:
                    os.read(terminal, 65536)
            self.fail("bash did not answer")
        finally:
            os.close(terminal)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


class Zsh(Shell):
    shell = "zsh"

    # Asks for the completions of each line in a file; answers with the words that are added, one
    # per line with what is shown for it, and --- behind each line. $1 is how the script is loaded.
    PROBE = r"""
PROMPT= LISTMAX=10000
setopt no_beep
autoload -Uz compinit
%(load)s
compadd() {
  if [[ " ${@[1,(i)-(|-)]} " == *\ -[a-zA-Z]#[OAD]\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a added shown
  local at=${@[(i)-d]}
  if (( at < $# )); then
    shown=("${(@P)@[at+1]}")
  fi
  builtin compadd -A added -D shown "$@"
  local i
  for (( i = 1; i <= $#added; i++ )); do
    print -r -- "$added[i]	$shown[i]" >>answers
  done
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

    def answers(self, lines: list[str], load: str) -> dict[str, list[tuple[str, str]]]:
        home = self.script.parent
        (home / ".zshrc").write_text(self.PROBE % {"load": load}, encoding="utf-8")
        (self.folder / "lines").write_text("".join(f">{line}\n" for line in lines))
        (self.folder / "answers").write_text("")
        self.execute("zsh", "-f", "-c", "zmodload zsh/zpty && zpty shell zsh -d -i && "
                     "while zpty -r shell >/dev/null; do :; done; true", env={"ZDOTDIR": str(home)})
        text = (self.folder / "answers").read_text(encoding="utf-8")
        (self.folder / "lines").unlink()
        (self.folder / "answers").unlink()
        parts = [part.splitlines() for part in text.split("---\n")[:-1]]
        pairs = [[tuple(word.split("\t", 1)) for word in part] for part in parts]
        return dict(zip(lines, pairs))  # type: ignore[arg-type]

    def offers(self, lines: list[str]) -> dict[str, list[str]]:
        answers = self.answers(lines, f"compinit -u -D; source {shlex.quote(str(self.script))}")
        return {line: [word for word, _ in pairs] for line, pairs in answers.items()}

    def test_offers(self) -> None:
        self.check(OFFERS, self.offers(list(OFFERS)))

    def test_from_fpath(self) -> None:
        folder = self.script.parent / "functions"
        folder.mkdir()
        shutil.copy(self.script, folder / "_tidegate")
        answers = self.answers(["rec", "tune st"],
                               f"fpath=({shlex.quote(str(folder))} $fpath); compinit -u -D")
        self.assertEqual([[word for word, _ in pairs] for pairs in answers.values()],
                         [["recommend"], ["step"]])


class Fish(Shell):
    shell = "fish"

    def answers(self, lines: list[str]) -> dict[str, list[list[str]]]:
        program = [f"source {shlex.quote(str(self.script))}"]
        for line in lines:
            program += [f"complete -C{shlex.quote('tidegate ' + line)}", "echo ---"]
        output = self.execute("fish", "--no-config", "-c", "\n".join(program))
        parts = [part.splitlines() for part in output.split("---\n")[:-1]]
        return dict(zip(lines, [[word.split("\t") for word in part] for part in parts]))

    def offers(self, lines: list[str]) -> dict[str, list[str]]:
        return {line: [word[0] for word in words] for line, words in self.answers(lines).items()}

    def test_offers(self) -> None:
        self.check(OFFERS, self.offers(list(OFFERS)))

class ManualPage(unittest.TestCase):
    """The page that the build writes beside the binary, where the binary is that of a build."""

    def test_renders_without_warnings(self) -> None:
        page = Path(support.binary()).parents[1] / "share" / "tidegate.1"
        if not page.exists() or not shutil.which("groff"):
            self.skipTest(f"no {page}" if not page.exists() else "groff is not installed")
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", str(page)],
                              capture_output=True, timeout=support.PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        text = done.stdout.decode()
        for expected in ("tidegate - runs programs", "--previous-topology NAME", "CLICOLOR_FORCE",
                         "tidegate recommend examples/bfs_wave.json --evidence all | tidegate check -"):
            self.assertIn(expected, text)


if __name__ == "__main__":
    unittest.main()
