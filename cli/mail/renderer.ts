/** Mails as the server would render them, for commands: its languages, subjects and templates, without a database. */
import type { MailRenderer } from '../../mail/render.ts'
import type { Config } from '../../plugins/config/config.ts'
import { configuredProxies, createHttpClient } from '../../plugins/http-client.ts'
import { createOwnLanguages } from '../../plugins/languages/own-languages.ts'
import { createLanguages, type Languages } from '../../plugins/languages.ts'
import { configuredRenderer } from '../../plugins/mailer/renderer.ts'

export interface Rendering {
  languages: Languages
  renderer: MailRenderer
}

/** Reads the operator's languages, and lets `use` render with them. */
export async function withRenderer(
  config: Config,
  use: (rendering: Rendering) => Promise<void>,
): Promise<void> {
  const http = createHttpClient(httpOptions(config))
  const log = { warn: (details: object, message: string) => console.error(message, details) }
  const house = { fetch: http.guardedFetch, log }
  try {
    const own = createOwnLanguages(config, house)
    await own.renew()
    const languages = createLanguages(config, own)
    await use({
      languages,
      renderer: configuredRenderer(config, { ...house, speech: languages.speech }),
    })
  } finally {
    await http.close()
  }
}

/** The default language without a name. Throws an Error for a language that nobody is written to in. */
export function readTag(locale: string | undefined, { available, fallback }: Languages): string {
  if (locale === undefined) return fallback
  const tag = available.find((each) => each.toLowerCase() === locale.toLowerCase())
  if (tag) return tag
  throw new Error(`${locale} is none of ${available.join(', ')}.`)
}

function httpOptions(config: Config) {
  return {
    dev: config.dev,
    proxy: configuredProxies(config),
    guardMaxBytes: config.AUTH_MAILER_TEMPLATE_MAX_SIZE,
  }
}
