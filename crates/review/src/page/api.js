// Requests to the program.

export class Refused extends Error {
  constructor(message, hint, status) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

async function read(answer) {
  const type = answer.headers.get("content-type") ?? "";
  const body = type.startsWith("application/json") ? await answer.json() : {};
  if (!answer.ok) throw new Refused(body.message ?? answer.statusText, body.hint, answer.status);
  return body;
}

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused("", null, 0);
  }
  return read(answer);
}

export const get = (path) => request(path, {cache: "no-store"});

export const post = (path, body = {}, options = {}) =>
  request(path, {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(body), ...options});

/** Asks for something that begins even if the page is closed at once. */
export const begin = (path, body) => post(path, body, {keepalive: true});

/** Uploads a file with progress. */
export function upload(file, progress) {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("POST", `api/files?name=${encodeURIComponent(file.name)}`);
    sending.setRequestHeader("content-type", "application/octet-stream");
    sending.upload.addEventListener("progress", (event) => progress(event.loaded / Math.max(1, event.total)));
    sending.addEventListener("error", () => reject(new Refused("", null, 0)));
    sending.addEventListener("load", () => {
      let body = {};
      try { body = JSON.parse(sending.responseText); } catch { /* Not JSON. */ }
      if (sending.status === 200) resolve(body);
      else reject(new Refused(body.message ?? sending.statusText, body.hint, sending.status));
    });
    sending.send(file);
  });
}
