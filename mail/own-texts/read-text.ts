import { readFile, stat } from 'node:fs/promises'

import type { Source } from './source.ts'

export interface ReadOptions {
  /** The guarded implementation of the server, which decides what addresses are allowed and limits the answer. */
  fetch: typeof globalThis.fetch
  timeoutSeconds: number
  maxBytes: number
}

/** The text as it is now. Throws an Error that says what is wrong with it. */
export async function readText(source: Source, options: ReadOptions): Promise<string> {
  const text = await textOf(source, options)
  if (Buffer.byteLength(text) > options.maxBytes) throw tooLarge(options)
  if (text.trim() === '') throw new Error('it is empty')
  return text
}

async function textOf(source: Source, options: ReadOptions): Promise<string> {
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

async function download(url: string, { fetch, timeoutSeconds }: ReadOptions): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: 'text/html, application/json, text/plain;q=0.9, */*;q=0.1' },
    // A text that moved is a setting to correct, and a redirect could lead anywhere.
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutSeconds * 1000),
  })
  if (response.status !== 200) throw new Error(`the server answered ${response.status}`)
  return response.text()
}

function tooLarge({ maxBytes }: ReadOptions): Error {
  return new Error(`it is larger than ${maxBytes} bytes`)
}
