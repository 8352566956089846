/** A text of the operator's: read when it is needed, kept while it is good, and read once for all who wait. */
import type { MailLog } from '../log.ts'
import { type ReadOptions, readText } from './read-text.ts'
import type { Source } from './source.ts'

export interface KeepOptions extends ReadOptions {
  /** How long what came from a web server is good. Files and settings are good until `expire` is called. */
  maxAgeSeconds: number
  /** Pause after a text could not be had. */
  retrySeconds: number
  /** Somebody calls `renew` regularly, so nobody need wait for a newer copy of what is there. */
  renewing: boolean
  /** Nothing is kept: whoever edits a text sees it in the next mail. */
  rereading: boolean
  log: MailLog
}

export interface CopyOf<T> {
  source: () => Source
  /** Throws for a text with a mistake. */
  parse: (text: string) => T
  /** What is used until there is a copy, as the log puts it. */
  instead: string
  /** Named in the log: the setting, and what else tells it from others. */
  names: { setting: string } & Record<string, string>
}

export type KeptCopy<T> = ReturnType<typeof createKeptCopy<T>>

export function createKeptCopy<T>(
  { source, parse, instead, names }: CopyOf<T>,
  options: KeepOptions,
) {
  let copy: T | undefined
  /** Milliseconds; nothing is read before this moment. */
  let freshUntil = 0
  let pending: Promise<void> | undefined
  let problem: string | undefined

  async function read(): Promise<void> {
    let place: Source | undefined
    try {
      place = source()
      copy = parse(await readText(place, options))
      const lasts = place.from === 'url' ? options.maxAgeSeconds * 1000 : Infinity
      freshUntil = Date.now() + lasts
      problem = undefined
    } catch (error) {
      // A copy that worked is better than none, however old.
      freshUntil = Date.now() + options.retrySeconds * 1000
      const { setting, ...more } = names
      const used = copy === undefined ? instead : 'the last good copy'
      const where = shown(place)
      const reason = reasonOf(error)
      const what = `the text of ${setting} could not be used; ${used} is sent`
      problem = [what, where.url ?? where.file, reason].filter(Boolean).join(': ')
      options.log.warn({ ...more, ...where, reason }, what)
    }
  }

  function refresh(): Promise<void> | undefined {
    if (options.rereading || Date.now() >= freshUntil) {
      pending ??= read().finally(() => {
        pending = undefined
      })
    }
    return pending
  }

  return {
    /** What is known now, without waiting. */
    latest: (): T | undefined => copy,

    /** Why the newest text is not what is used, and where it was looked for. */
    problem: (): string | undefined => problem,

    /** The operator's text, or undefined when none could be had yet. */
    async get(): Promise<T | undefined> {
      const refreshed = refresh()
      if (copy === undefined || !options.renewing) await refreshed
      return copy
    },

    /** Reads what has expired, so that the next who needs it finds it. */
    renew: async (): Promise<void> => refresh(),

    /** The next who needs it reads it again. */
    expire(): void {
      freshUntil = 0
    },
  }
}

function shown(source: Source | undefined): { url?: string; file?: string } {
  if (source?.from === 'file') return { file: source.path }
  return source?.from === 'url' ? { url: withoutSecrets(source.url) } : {}
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // fetch says "fetch failed" and keeps what happened in the cause.
  return error.cause instanceof Error ? error.cause.message : error.message
}

function withoutSecrets(url: string): string {
  const parsed = URL.parse(url)
  return parsed ? `${parsed.origin}${parsed.pathname}` : '(not a URL)'
}
