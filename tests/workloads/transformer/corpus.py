"""English text that Debian systems have: the documentation inside Perl's modules.

Debian's perl-modules package, which autoconf and dpkg-dev need, has 4 MB of it in
/usr/share/perl. The text is cut by files: every sixteenth one, in the order of their names, is held
out, so that none of it was seen in training.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import glob
import os

FOLDERS = "/usr/share/perl/5.*"
SUFFIXES = (".pm", ".pod", ".pl")
HELD_OUT_EVERY = 16


def documentation(path):
    """The lines of a file that are POD, Perl's documentation, without its commands."""
    lines = []
    inside = False
    with open(path, encoding="latin-1") as source:
        for line in source:
            if line.startswith("="):
                inside = not line.startswith("=cut")
            elif inside:
                lines.append(line)
    return "".join(lines)


def find_files():
    return sorted(
        os.path.join(folder, name)
        for root in glob.glob(FOLDERS)
        if not os.path.islink(root)
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(SUFFIXES)
    )


def write(training_path, held_out_path, most_characters=None):
    """Both texts; False if this system has no such files."""
    texts = [text for text in map(documentation, find_files()) if text]
    if len(texts) < 2 * HELD_OUT_EVERY:
        return False
    held_out = texts[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY]
    training = [text for i, text in enumerate(texts) if i % HELD_OUT_EVERY != HELD_OUT_EVERY - 1]
    for path, parts in ((training_path, training), (held_out_path, held_out)):
        with open(path, "w", encoding="latin-1") as out:
            out.write("".join(parts)[:most_characters])
    return True
