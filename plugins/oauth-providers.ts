/** The external providers that are switched on: where they send a browser, and who came back. */
import { oauthProviderNotSupported, providerDisabled, validationFailed } from '../errors.ts'
import { type IdTokenSignIn, identityFromIdToken } from '../providers/id-token.ts'
import type { IdTokenRequest } from '../providers/id-token-selection.ts'
import type {
  Authorization,
  AuthorizationRequest,
  Callback,
  Identity,
  Provider,
  ProviderSettings,
} from '../providers/provider.ts'
import { createProvider, findDefinition, providerNames } from '../providers/registry.ts'
import { createUpstream, type Upstream, upstreamsByName } from '../providers/upstream.ts'
import { definePlugin } from './define-plugin.ts'
import { serveDevOidc } from './oauth-providers/dev-oidc.ts'
import { answerFault, callbackFault, idTokenFault, startFault } from './oauth-providers/faults.ts'
import { inTime } from './oauth-providers/in-time.ts'
import { allowedIssuers, issuerProviders, namedProviders } from './oauth-providers/settings.ts'
import { longestWaitMs } from './request-duration.ts'

export type { FlowSecrets, Identity } from '../providers/provider.ts'

declare module 'fastify' {
  interface FastifyInstance {
    oauthProviders: ReturnType<typeof createOauthProviders>
  }
}

/** Whoever asks has an answer within three seconds. */
const metadataDeadlineMs = 2_500

/** Providers that are reached in the same way. */
interface Group {
  settings: ReadonlyMap<string, ProviderSettings>
  upstream: Upstream
}

interface OauthProviderDeps {
  groups: readonly Group[]
  /**
   * Fetches what an id_token names: metadata and keys of its issuer. Each provider has its own: a stranger may name as many
   * tenants of Microsoft's as the cache holds issuers.
   */
  idTokenUpstreamOf(provider: string): Upstream
  /** Issuers without a provider, each with its audiences. */
  allowedIssuers: ReadonlyMap<string, readonly string[]>
  /** For all that is asked of a provider in one step, so that the browser hears of it in time. */
  deadlineMs: number
  /** The same for steps that ask for metadata and keys at most: a provider that is well answers at once. */
  metadataDeadlineMs: number
}

export function createOauthProviders(deps: OauthProviderDeps) {
  const {
    groups,
    idTokenUpstreamOf: upstreamOf,
    allowedIssuers,
    deadlineMs,
    metadataDeadlineMs,
  } = deps
  const settings = new Map(groups.flatMap((group) => [...group.settings]))
  const providers = new Map(groups.flatMap(createAll))

  return {
    /** Every provider, in lower case as clients spell it, and whether it is switched on. */
    switches: Object.fromEntries(
      [...new Set([...providerNames, ...settings.keys()])].map((name) => [
        name,
        settings.has(name),
      ]),
    ),

    /** Whether the provider lets people in of whom it tells no address. */
    emailOptional: (name: string): boolean => settings.get(name)?.emailOptional ?? false,

    /** Throws validation_failed unless `name` (in any case) is switched on; returns its lower case. */
    nameOf(name: string): string {
      const known = name.toLowerCase()
      if (known === '') throw validationFailed('provider is missing')
      if (settings.has(known)) return known
      throw validationFailed(
        findDefinition(known)
          ? 'Unsupported provider: provider is not enabled'
          : 'Unsupported provider: provider could not be found',
      )
    },

    /** Throws oauth_provider_not_supported unless the provider is still switched on. */
    checkSupported(name: string): void {
      if (!providers.has(name)) throw oauthProviderNotSupported('The provider is not switched on')
    },

    answerFault,

    /**
     * Where to send the browser. Throws validation_failed for a provider that cannot be used, service_unavailable for
     * one that is down.
     */
    async start(name: string, request: AuthorizationRequest): Promise<Authorization> {
      try {
        return await inTime(found(name).authorizationUrl(request), metadataDeadlineMs)
      } catch (error) {
        throw startFault(error, name)
      }
    },

    /**
     * Who came back. Throws bad_oauth_callback, service_unavailable, or unexpected_failure with the reason as its
     * cause.
     */
    async identify(name: string, callback: Callback): Promise<Identity> {
      try {
        return await inTime(found(name).identity(callback), deadlineMs)
      } catch (error) {
        throw callbackFault(error, name)
      }
    },

    /** Whose id_token this is. Throws validation_failed, provider_disabled, service_unavailable, unexpected_failure. */
    async identifyByIdToken(request: IdTokenRequest, now: Date): Promise<IdTokenSignIn> {
      try {
        const context = { upstreamOf, providers: settings, allowedIssuers, now }
        return await inTime(identityFromIdToken(request, context), metadataDeadlineMs)
      } catch (error) {
        const { provider, issuer = '' } = request
        throw idTokenFault(error, provider || issuer)
      }
    },
  }

  function found(name: string): Provider {
    const provider = providers.get(name)
    if (!provider) throw providerDisabled('The provider is not switched on')
    return provider
  }
}

function createAll({ settings, upstream }: Group): [string, Provider][] {
  return [...settings].flatMap(([name, values]) => {
    const provider = createProvider(name, values, upstream)
    return provider ? [[name, provider] satisfies [string, Provider]] : []
  })
}

export default definePlugin({
  name: 'oauthProviders',
  needs: ['config', 'httpClient', 'register'],
  async create(house) {
    const { config } = house
    const { fetch, guardedFetch } = house.httpClient
    const limits = {
      timeoutMs: config.AUTH_INTERNAL_HTTP_TIMEOUT * 1000,
      discoverySeconds: config.AUTH_EXTERNAL_OIDC_PROVIDER_CACHE_TTL,
    }
    const named = createUpstream({ fetch, discoveryFetch: guardedFetch, ...limits })
    // The metadata of such a provider may name any address, so none is fetched without the guard.
    const createGuarded = () => createUpstream({ fetch: guardedFetch, ...limits })
    const guarded = createGuarded()
    const generic = issuerProviders(config)
    const deadlineMs = longestWaitMs(config)
    const dev = await serveDevOidc(house)
    return createOauthProviders({
      groups: [
        { settings: namedProviders(config), upstream: named },
        { settings: generic, upstream: guarded },
        { settings: new Map(dev ? [['dev', dev]] : []), upstream: named },
      ],
      // A provider of one issuer has the metadata and keys that its own sign-ins have.
      idTokenUpstreamOf: upstreamsByName(
        createGuarded,
        new Map([...generic.keys()].map((name) => [name, guarded])),
      ),
      allowedIssuers: allowedIssuers(config),
      deadlineMs,
      metadataDeadlineMs: Math.min(deadlineMs, metadataDeadlineMs),
    })
  },
})
