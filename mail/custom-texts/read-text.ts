import { readFile, stat } from 'node:fs/promises'

import type { Source } from './source.ts'

export interface ReadTextOptions {
  /** The server's fetch, which checks addresses and limits the size of responses. */
  fetch: typeof globalThis.fetch
  timeoutSeconds: number
  maxBytes: number
}

/** Loads the text. Throws an Error with the reason. */
export async function readText(source: Source, options: ReadTextOptions): Promise<string> {
  const text = await readSource(source, options)
  if (Buffer.byteLength(text) > options.maxBytes) throw tooLarge(options)
  if (text.trim() === '') throw new Error('it is empty')
  return text
}

async function readSource(source: Source, options: ReadTextOptions): Promise<string> {
  switch (source.from) {
    case 'setting':
      return source.text
    case 'file': {
      const { size } = await stat(source.path)
      if (size > options.maxBytes) throw tooLarge(options)
      return readFile(source.path, 'utf8')
    }
    case 'url':
      return download(source.url, options)
  }
}

async function download(url: string, { fetch, timeoutSeconds }: ReadTextOptions): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: 'text/html, application/json, text/plain;q=0.9, */*;q=0.1' },
    // A moved text requires a changed setting, and a redirect could lead to an internal address.
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutSeconds * 1000),
  })
  if (response.status !== 200) throw new Error(`the server returned status ${response.status}`)
  return response.text()
}

function tooLarge({ maxBytes }: ReadTextOptions): Error {
  return new Error(`it is larger than ${maxBytes} bytes`)
}
