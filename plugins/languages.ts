/** In which language people are written to, and what is said in it: those that are shipped, and the operator's own. */
import { AsyncLocalStorage } from 'node:async_hooks'

import { acceptedLanguages, nearestLanguage } from '../mail/languages/choose.ts'
import type { Language, Speech } from '../mail/languages/language.ts'
import { createLibrary, type MissingTexts } from '../mail/languages/library.ts'
import { shippedLanguages } from '../mail/languages/shipped.ts'
import { readLocaleSetting } from '../mail/locale-settings.ts'
import type { Config } from './config/config.ts'
import { definePlugin } from './define-plugin.ts'
import { createOwnLanguages, type OwnLanguages } from './languages/own-languages.ts'
import { keepNew } from './languages/renewal.ts'

declare module 'fastify' {
  interface FastifyInstance {
    languages: Languages
  }
}

export type Languages = ReturnType<typeof createLanguages>

/** What a person may have said of their language: `locale` wins over `language`. */
type Metadata = Readonly<Record<string, unknown>>

export function createLanguages(config: Config, own: OwnLanguages) {
  const library = createLibrary(own.texts)
  const available = availableTags(config, own.tags)
  const wanted = nearestLanguage([config.AUTH_DEFAULT_LOCALE], available)
  const fallback = wanted ?? 'en'
  /** The Accept-Language of the request that is being worked on. */
  const accepted = new AsyncLocalStorage<string>()

  const ofHeader = (header: string) => nearestLanguage(acceptedLanguages(header), available)

  return {
    /** Every language that somebody can be written to in, by tag. */
    available,

    /** The one of AUTH_DEFAULT_LOCALE, or English. */
    fallback,

    /** False where there are no texts in the language of AUTH_DEFAULT_LOCALE. */
    hasDefault: wanted !== undefined,

    /** The language of a tag; what it lacks is English. */
    speech: (tag: string): Speech => library.get(tag),

    /** The texts for whoever sent this Accept-Language header. */
    ofReader(header: string | undefined): Pick<Speech, 'tag' | 'direction'> & { texts: Language } {
      return library.get(ofHeader(header ?? '') ?? fallback)
    },

    /** What a message to a person is written in: their own choice, else that of the request it comes from. */
    tagFor(metadata: Metadata): string {
      const chosen = [metadata.locale, metadata.language].filter((tag) => typeof tag === 'string')
      return nearestLanguage(chosen, available) ?? ofHeader(accepted.getStore() ?? '') ?? fallback
    },

    /** The Accept-Language of the request that is being worked on, for what is put off. */
    accepted: (): string => accepted.getStore() ?? '',

    /** Does the work as if it came from a request with this header. */
    during: <T>(header: string, work: () => T): T => accepted.run(header, work),

    /** What the operator's languages lack. */
    missing: (): MissingTexts[] => own.tags.map((tag) => library.missing(tag)),

    /** Reads the operator's languages again. */
    reload: own.reload,
  }
}

/** Shipped, brought by the operator, or named by a template of one language. */
function availableTags(config: Config, own: readonly string[]): string[] {
  const named = Object.keys(config).flatMap((name) => readLocaleSetting(name)?.tag ?? [])
  return [...new Set([...shippedLanguages.keys(), ...own, ...named])]
}

const noDefault = ({ AUTH_DEFAULT_LOCALE: tag }: Config) =>
  `AUTH_DEFAULT_LOCALE is ${tag}, in which there are no texts: whoever names no language is written to in English. AUTH_LANGUAGES can bring them.`

export default definePlugin({
  name: 'languages',
  needs: ['addHook', 'config', 'httpClient', 'log'],
  create(house) {
    const { config, httpClient, log } = house
    const own = createOwnLanguages(config, { fetch: httpClient.guardedFetch, log })
    const languages = createLanguages(config, own)
    if (!languages.hasDefault) log.warn(noDefault(config))
    // The first mail finds them, or it is known that they cannot be had.
    if (own.tags.length > 0) keepNew(house, { first: own.renew, renew: own.renew })
    house.addHook('preHandler', (request, _reply, done) => {
      languages.during(request.headers['accept-language'] ?? '', done)
    })
    return languages
  },
})
