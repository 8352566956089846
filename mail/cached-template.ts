/** A cached custom text. Concurrent callers share one load. */
import { readFile, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'

export interface CacheOptions extends ReadTextOptions {
  /** Lifetime of a text from a web server. Files and settings are valid until `expire` is called. */
  maxAgeSeconds: number
  /** Pause after a failed load. */
  retrySeconds: number
  /** `renew` is called regularly, so that no caller has to wait for a reload. */
  renewing: boolean
  /** Nothing is cached: an edited text applies to the next email. */
  rereading: boolean
  log: MailLog
}

interface CustomText<T> {
  source: () => Source
  /** Throws for an invalid text. */
  parse: (text: string) => T
  /** The fallback while there is no copy, for the log. */
  instead: string
  /** Fields for the log: the setting and its type of email or language. */
  names: { setting: string } & Record<string, string>
}

export class CachedTemplate<T> {
  readonly #text: CustomText<T>
  readonly #options: CacheOptions
  #copy: T | undefined
  /** Milliseconds since the epoch; nothing is loaded before this time. */
  #freshUntil = 0
  #pending: Promise<void> | undefined
  #problem: string | undefined

  constructor(text: CustomText<T>, options: CacheOptions) {
    this.#text = text
    this.#options = options
  }

  /** The cached text, without a load. */
  latest(): T | undefined {
    return this.#copy
  }

  /** The reason why the newest text is not used, and its source. */
  problem(): string | undefined {
    return this.#problem
  }

  /** Returns the custom text, or undefined when none could be loaded yet. */
  async get(): Promise<T | undefined> {
    const refreshed = this.#refresh()
    if (this.#copy === undefined || !this.#options.renewing) await refreshed
    return this.#copy
  }

  /** Loads an expired text in advance. */
  async renew(): Promise<void> {
    await this.#refresh()
  }

  /** The next caller loads it again. */
  expire(): void {
    this.#freshUntil = 0
  }

  #refresh(): Promise<void> | undefined {
    if (this.#options.rereading || Date.now() >= this.#freshUntil) {
      this.#pending ??= this.#load().finally(() => {
        this.#pending = undefined
      })
    }
    return this.#pending
  }

  async #load(): Promise<void> {
    const { maxAgeSeconds } = this.#options
    let place: Source | undefined
    try {
      place = this.#text.source()
      this.#copy = this.#text.parse(await readText(place, this.#options))
      this.#freshUntil = place.from === 'url' ? Date.now() + maxAgeSeconds * 1000 : Infinity
      this.#problem = undefined
    } catch (error) {
      this.#fail(place, error)
    }
  }

  /** An expired copy is used while no newer one can be loaded. */
  #fail(place: Source | undefined, error: unknown): void {
    const { log, retrySeconds } = this.#options
    const { instead, names } = this.#text
    this.#freshUntil = Date.now() + retrySeconds * 1000
    const { setting, ...more } = names
    const used = this.#copy === undefined ? instead : 'the last valid copy'
    const where = shown(place)
    const reason = describeError(error)
    const what = `the template of ${setting} could not be used; ${used} is sent`
    this.#problem = [what, where.url ?? where.file, reason].filter(Boolean).join(': ')
    log.warn({ ...more, ...where, reason }, what)
  }
}

function shown(source: Source | undefined): { url?: string; file?: string } {
  if (source?.from === 'file') return { file: source.path }
  return source?.from === 'url' ? { url: withoutSecrets(source.url) } : {}
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // `fetch` throws "fetch failed" with the reason as its cause.
  return error.cause instanceof Error ? error.cause.message : error.message
}

function withoutSecrets(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? `${parsed.origin}${parsed.pathname}` : '(not a URL)'
}

interface ReadTextOptions {
  /** The server's fetch, which checks addresses and limits the size of responses. */
  fetch: typeof globalThis.fetch
  timeoutSeconds: number
  maxBytes: number
}

/** Loads the text. Throws an Error with the reason. */
async function readText(source: Source, options: ReadTextOptions): Promise<string> {
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

/** The part of a pino logger that this folder needs. */
export interface MailLog {
  warn(details: object, message: string): void
}

type Source =
  | { from: 'setting'; text: string }
  | { from: 'file'; path: string }
  | { from: 'url'; url: string }

export interface Places {
  siteUrl: string
  /** AUTH_TEMPLATES_DIR */
  folder: string | undefined
}

/**
 * A value that begins like a template is one. A value with `http` is a URL, one with a leading slash a path on the
 * site; any other is a file of the folder or, without a folder, a path on the site. Throws an Error for a file outside
 * of the folder.
 */
export function parseTextSource(setting: string, { siteUrl, folder }: Places): Source {
  if (/^(<|\{\{)/.test(setting)) return { from: 'setting', text: setting }
  if (/^https?:/i.test(setting)) return { from: 'url', url: setting }
  if (folder !== undefined && !setting.startsWith('/')) {
    return { from: 'file', path: pathBelow(folder, setting) }
  }
  return { from: 'url', url: `${siteUrl.replace(/\/+$/, '')}/${setting.replace(/^\/+/, '')}` }
}

function pathBelow(folder: string, name: string): string {
  const path = resolve(folder, name)
  if (path.startsWith(resolve(folder) + sep)) return path
  throw new Error(`${name} is outside AUTH_TEMPLATES_DIR`)
}
