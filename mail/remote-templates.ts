/** Templates that an operator keeps at a URL: fetched when needed, cached, and fetched once for all who wait. */
import { compileTemplate, type Template } from './go-template/template.ts'
import { type MailKind, mailKindNames, mailKinds } from './kinds.ts'
import type { MailLog } from './log.ts'

export interface RemoteTemplateOptions {
  /** The guarded implementation of the server, which decides what addresses are allowed and limits the answer. */
  fetch: typeof globalThis.fetch
  /** Completes URLs that do not start with `http`. */
  siteUrl: string
  templateUrls: Partial<Record<MailKind, string>>
  maxAgeSeconds: number
  /** Pause after a failed fetch. */
  retrySeconds: number
  timeoutSeconds: number
  maxBytes: number
  /** Somebody calls `renew` regularly, so a mail need not wait for a newer copy of what is there. */
  renewing: boolean
  log: MailLog
}

interface Entry {
  template?: Template
  /** Milliseconds; no fetch before this moment. */
  freshUntil: number
  pending?: Promise<void>
}

export function createRemoteTemplates(options: RemoteTemplateOptions) {
  const entries = new Map<MailKind, Entry>()

  async function fetchInto(kind: MailKind, url: string, entry: Entry) {
    try {
      entry.template = compileTemplate(await download(url, options), 'html')
      entry.freshUntil = Date.now() + options.maxAgeSeconds * 1000
    } catch (error) {
      // A copy that worked is better than none, however old.
      entry.freshUntil = Date.now() + options.retrySeconds * 1000
      const variable = `AUTH_MAILER_TEMPLATES_${mailKinds[kind].envSuffix}`
      const used = entry.template ? 'the last good copy' : 'the built-in text'
      options.log.warn(
        { kind, url: withoutSecrets(url), reason: reasonOf(error) },
        `the mail template of ${variable} could not be used; ${used} is sent`,
      )
    }
  }

  /** Fetches what has expired, once for all who ask meanwhile. Undefined when none is configured. */
  function refreshed(kind: MailKind): Entry | undefined {
    const configured = options.templateUrls[kind]?.trim()
    if (!configured) return undefined
    const entry = entries.get(kind) ?? { freshUntil: 0 }
    entries.set(kind, entry)
    if (Date.now() >= entry.freshUntil) {
      const url = resolveTemplateUrl(configured, options.siteUrl)
      entry.pending ??= fetchInto(kind, url, entry).finally(() => delete entry.pending)
    }
    return entry
  }

  return {
    /** The operator's template of this kind, or undefined when there is none or none could be had yet. */
    async get(kind: MailKind): Promise<Template | undefined> {
      const entry = refreshed(kind)
      if (!entry) return undefined
      if (!entry.template || !options.renewing) await entry.pending
      return entry.template
    },

    /** Fetches the templates that have expired, so that the next mails find them. */
    async renew(): Promise<void> {
      await Promise.all(mailKindNames.map((kind) => refreshed(kind)?.pending))
    },
  }
}

/** A setting that does not start with `http` is a path below the site. */
export function resolveTemplateUrl(configured: string, siteUrl: string): string {
  if (/^http/i.test(configured)) return configured
  return `${siteUrl.replace(/\/+$/, '')}/${configured.replace(/^\/+/, '')}`
}

async function download(url: string, options: RemoteTemplateOptions): Promise<string> {
  const response = await options.fetch(url, {
    headers: { accept: 'text/html, text/plain;q=0.9, */*;q=0.1' },
    // A template that moved is a setting to correct, and a redirect could lead anywhere.
    redirect: 'manual',
    signal: AbortSignal.timeout(options.timeoutSeconds * 1000),
  })
  if (response.status !== 200) throw new Error(`the server answered ${response.status}`)
  const text = await response.text()
  if (Buffer.byteLength(text) > options.maxBytes) {
    throw new Error(`the template is larger than ${options.maxBytes} bytes`)
  }
  if (text.trim() === '') throw new Error('the template is empty')
  return text
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
