/** The languages of AUTH_LANGUAGES: files or URLs, read at start, on SIGHUP and when expired. */
import type { Config } from '../../../config/groups/index.ts'
import { CachedTemplate, type MailLog, parseTextSource } from '../../../mail/cached-template.ts'
import { type MessageCatalog, readCustomLanguage } from '../../../mail/languages/custom-language.ts'
import { tagOfFile } from '../../../mail/languages/tags.ts'

export type CustomLanguages = ReturnType<typeof createCustomLanguages>

/** Seconds. */
const maxFetch = 5

export function createCustomLanguages(
  config: Config,
  { fetch, log }: { fetch: typeof globalThis.fetch; log: MailLog },
) {
  const places = { siteUrl: config.AUTH_SITE_URL, folder: config.AUTH_TEMPLATES_DIR }
  const options = {
    fetch,
    log,
    timeoutSeconds: maxFetch,
    maxBytes: config.AUTH_MAILER_TEMPLATE_MAX_SIZE,
    maxAgeSeconds: config.AUTH_MAILER_TEMPLATE_MAX_AGE,
    retrySeconds: config.AUTH_MAILER_TEMPLATE_RETRY_INTERVAL,
    renewing: true,
    rereading: config.dev,
  }

  function parse(place: string, json: string): MessageCatalog {
    const { texts, problems } = readCustomLanguage(json)
    if (problems.length > 0) log.warn({ place, problems }, 'unknown custom texts ignored')
    return texts
  }

  const copies = new Map(
    config.AUTH_LANGUAGES.map((place) => {
      const copy = {
        source: () => parseTextSource(place, places),
        parse: (json: string) => parse(place, json),
        instead: 'what the server comes with',
        names: { setting: 'AUTH_LANGUAGES', language: place },
      }
      return [tagOfFile(place) ?? place, new CachedTemplate(copy, options)] as const
    }),
  )
  const renew = async () => {
    await Promise.all([...copies.values()].map((copy) => copy.renew()))
  }

  return {
    /** In the order of the setting. */
    tags: [...copies.keys()],

    /** The current messages of a language. */
    texts: (tag: string): MessageCatalog | undefined => copies.get(tag)?.latest(),

    /** Reads expired languages. */
    renew,

    /** Reads all languages again. */
    async reload(): Promise<void> {
      for (const copy of copies.values()) copy.expire()
      await renew()
    },
  }
}
