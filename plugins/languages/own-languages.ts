/** The languages of AUTH_LANGUAGES: files or addresses, read at the start, and again on SIGHUP or when they are old. */
import { readOwnLanguage, type Texts } from '../../mail/languages/own-language.ts'
import { tagOfFile } from '../../mail/languages/tag.ts'
import type { MailLog } from '../../mail/log.ts'
import { createKeptCopy } from '../../mail/own-texts/kept-copy.ts'
import { sourceOf } from '../../mail/own-texts/source.ts'
import type { Config } from '../config/config.ts'

export type OwnLanguages = ReturnType<typeof createOwnLanguages>

/** Seconds. */
const longestFetch = 5

export function createOwnLanguages(
  config: Config,
  { fetch, log }: { fetch: typeof globalThis.fetch; log: MailLog },
) {
  const places = { siteUrl: config.AUTH_SITE_URL, folder: config.AUTH_TEMPLATES_DIR }
  const options = {
    fetch,
    log,
    timeoutSeconds: longestFetch,
    maxBytes: config.AUTH_MAILER_TEMPLATE_MAX_SIZE,
    maxAgeSeconds: config.AUTH_MAILER_TEMPLATE_MAX_AGE,
    retrySeconds: config.AUTH_MAILER_TEMPLATE_RETRY_INTERVAL,
    renewing: true,
    rereading: config.dev,
  }

  function parse(place: string, json: string): Texts {
    const { texts, problems } = readOwnLanguage(json)
    if (problems.length > 0) log.warn({ place, problems }, 'some texts of a language are not used')
    return texts
  }

  const copies = new Map(
    config.AUTH_LANGUAGES.map((place) => {
      const copy = {
        source: () => sourceOf(place, places),
        parse: (json: string) => parse(place, json),
        instead: 'what the server comes with',
        names: { setting: 'AUTH_LANGUAGES', language: place },
      }
      return [tagOfFile(place) ?? place, createKeptCopy(copy, options)] as const
    }),
  )
  const renew = async () => {
    await Promise.all([...copies.values()].map((copy) => copy.renew()))
  }

  return {
    /** In the order of the setting. */
    tags: [...copies.keys()],

    /** The texts as they are known now. */
    texts: (tag: string): Texts | undefined => copies.get(tag)?.latest(),

    /** Reads what has expired. */
    renew,

    /** Reads all of them again. */
    async reload(): Promise<void> {
      for (const copy of copies.values()) copy.expire()
      await renew()
    },
  }
}
