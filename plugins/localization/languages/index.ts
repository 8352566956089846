/** The language of messages to users, and the messages themselves: built-in and custom languages. */
import { AsyncLocalStorage } from 'node:async_hooks'

import type { Config } from '../../../config/groups/index.ts'
import type { Language, LocalizedMessages } from '../../../mail/languages/language.ts'
import { createLibrary, type MissingMessages } from '../../../mail/languages/library.ts'
import { shippedLanguages } from '../../../mail/languages/shipped.ts'
import { acceptedLanguages, nearestLanguage } from '../../../mail/languages/tags.ts'
import { readLocaleSetting } from '../../../mail/locale-settings.ts'
import { definePlugin } from '../../define-plugin.ts'
import { type CustomLanguages, createCustomLanguages } from './custom-languages.ts'
import { refreshPeriodically } from './renewal.ts'

declare module 'fastify' {
  interface FastifyInstance {
    languages: Languages
  }
}

export type Languages = ReturnType<typeof createLanguages>

/** A user's language in their metadata: `locale` wins over `language`. */
type Metadata = Readonly<Record<string, unknown>>

export function createLanguages(config: Config, own: CustomLanguages) {
  const library = createLibrary(own.texts)
  const all = availableTags(config, own.tags)
  const configured = nearestLanguage([config.AUTH_DEFAULT_LOCALE], all)
  const fallback = configured ?? 'en'
  const available = config.AUTH_LANGUAGES_ENABLED ? all : [fallback]
  /** The Accept-Language header of the current request. */
  const accepted = new AsyncLocalStorage<string>()

  const ofHeader = (header: string) => nearestLanguage(acceptedLanguages(header), available)

  return {
    /** The tags of all available languages. */
    available,

    /** AUTH_DEFAULT_LOCALE, or English. */
    fallback,

    /** False when AUTH_DEFAULT_LOCALE names a language without messages. */
    hasDefault: configured !== undefined,

    /** The messages of a tag; missing ones are in English. */
    messagesFor: (tag: string): LocalizedMessages => library.get(tag),

    /** The messages for an Accept-Language header. */
    ofReader(
      header: string | undefined,
    ): Pick<LocalizedMessages, 'tag' | 'direction'> & { texts: Language } {
      return library.get(ofHeader(header ?? '') ?? fallback)
    },

    /** The tag for a message to a user: their own choice, else the language of the current request. */
    tagFor(metadata: Metadata): string {
      const chosen = [metadata.locale, metadata.language].filter((tag) => typeof tag === 'string')
      return nearestLanguage(chosen, available) ?? ofHeader(accepted.getStore() ?? '') ?? fallback
    },

    /** The Accept-Language header of the current request, to store with deferred work. */
    accepted: (): string => accepted.getStore() ?? '',

    /** Runs the work as if a request with this header had caused it. */
    during: <T>(header: string, work: () => T): T => accepted.run(header, work),

    /** The messages that custom languages lack. */
    missing: (): MissingMessages[] => own.tags.map((tag) => library.missing(tag)),

    /** Reads custom languages again. */
    reload: own.reload,
  }
}

/** Built-in and custom languages, and those that have a template of their own. */
function availableTags(config: Config, own: readonly string[]): string[] {
  const named = Object.keys(config).flatMap((name) => readLocaleSetting(name)?.tag ?? [])
  return [...new Set([...shippedLanguages.keys(), ...own, ...named])]
}

const noDefault = ({ AUTH_DEFAULT_LOCALE: tag }: Config) =>
  `AUTH_DEFAULT_LOCALE is ${tag}, which has no messages: users without a language get English. Add the language with AUTH_LANGUAGES.`

export default definePlugin({
  name: 'languages',
  deps: ['addHook', 'config', 'httpClient', 'log'],
  create(deps) {
    const { config, httpClient, log } = deps
    const own = createCustomLanguages(config, { fetch: httpClient.guardedFetch, log })
    const languages = createLanguages(config, own)
    if (!languages.hasDefault) log.warn(noDefault(config))
    // Read before the first email, or known to be unavailable.
    if (own.tags.length > 0) refreshPeriodically(deps, { first: own.renew, renew: own.renew })
    deps.addHook('preHandler', (request, _reply, done) => {
      languages.during(request.headers['accept-language'] ?? '', done)
    })
    return languages
  },
})
