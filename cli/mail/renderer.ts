/** Renders emails as the server would, for commands: languages, subjects and templates, without a database. */
import type { Config } from '../../config/groups/index.ts'
import type { MailLog } from '../../mail/cached-template.ts'
import type { MailRenderer } from '../../mail/render.ts'
import { createCustomLanguages } from '../../plugins/localization/languages/custom-languages.ts'
import { createLanguages, type Languages } from '../../plugins/localization/languages/index.ts'
import { configuredRenderer } from '../../plugins/messaging/mailer/renderer.ts'
import { configuredProxies, createHttpClient } from '../../plugins/outgoing/http-client/index.ts'

export interface Rendering {
  languages: Languages
  renderer: MailRenderer
}

const toConsole = { warn: (details: object, message: string) => console.error(message, details) }

/** Loads the custom languages and calls `use` with a renderer. */
export async function withRenderer(
  config: Config,
  use: (rendering: Rendering) => Promise<void>,
  log: MailLog = toConsole,
): Promise<void> {
  const http = createHttpClient(httpOptions(config))
  const deps = { fetch: http.guardedFetch, log }
  try {
    const own = createCustomLanguages(config, deps)
    await own.renew()
    const languages = createLanguages(config, own)
    const { messagesFor, fallback: defaultTag } = languages
    await use({
      languages,
      renderer: configuredRenderer(config, { ...deps, messagesFor, defaultTag }),
    })
  } finally {
    await http.close()
  }
}

/** Returns the tag, or the default one. Throws an Error for an unavailable language. */
export function readTag(locale: string | undefined, { available, fallback }: Languages): string {
  if (locale === undefined) return fallback
  const tag = available.find((each) => each.toLowerCase() === locale.toLowerCase())
  if (tag) return tag
  throw new Error(`${locale} is not one of ${available.join(', ')}.`)
}

function httpOptions(config: Config) {
  return {
    dev: config.dev,
    proxy: configuredProxies(config),
    guardMaxBytes: config.AUTH_MAILER_TEMPLATE_MAX_SIZE,
  }
}
