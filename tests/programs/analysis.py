"""Runs the SQL and Python of a page of the documentation where exports are, and reads the exports with the programs that the page names.

    python analysis.py PAGE

Prints, as JSON, for each way of reading: the number of rows, the sum of the prices, the first id and the latest time.
"""

import json
import pathlib
import sqlite3
import sys

import duckdb
import pandas
import polars
from duckdb_extensions import import_extension

page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
connection = duckdb.connect()
# From its package: DuckDB downloads it otherwise.
import_extension("sqlite_scanner")
connection.load_extension("sqlite_scanner")
database = sqlite3.connect("records.db")
ran = []
for section in page.split("\n## ")[1:]:
    program = section.split("\n", 1)[0]
    for block in section.split("```")[1::2]:
        language, code = block.split("\n", 1)
        if language == "sh":
            continue
        if language == "python":
            exec(code, {})
        elif program == "SQLite":
            database.executescript(code)
        else:
            for statement in filter(str.strip, code.split(";")):
                connection.execute(statement)
        ran.append(program)

QUESTION = "SELECT count(*), sum(price), min(id), CAST(max(updated_at) AS VARCHAR) FROM "


def by_sql(rows):
    count, total, first, latest = rows.fetchone()
    return [count, float(total), first, str(latest)[:19].replace("T", " ")]


def by_frame(frame):
    return [len(frame), float(frame["price"].sum()), frame["id"].min(), str(frame["updated_at"].max())[:19]]


# Otherwise in the zone of the machine.
connection.execute("SET TimeZone = 'UTC'")
read = {
    "DuckDB, Parquet": by_sql(connection.execute(QUESTION + "'items.parquet'")),
    "DuckDB, SQLite": by_sql(connection.execute(QUESTION + "records.items WHERE deleted_at IS NULL")),
    "SQLite": by_sql(database.execute(QUESTION + "items WHERE deleted_at IS NULL")),
    "pandas": by_frame(pandas.read_parquet("items.parquet")),
    "polars": by_frame(polars.read_parquet("items.parquet")),
}
types = {name: kind for name, kind, *_ in connection.execute("DESCRIBE SELECT * FROM 'items.parquet'").fetchall()}
print(json.dumps({"ran": ran, "read": read, "types": types}))
