"""Opens workbooks with openpyxl, and saves them again.

    python workbooks.py FOLDER FILE...

Each file is saved under its name in FOLDER.
"""

import pathlib
import sys

import openpyxl

folder = pathlib.Path(sys.argv[1])
for file in map(pathlib.Path, sys.argv[2:]):
    openpyxl.load_workbook(file).save(folder / file.name)
