/** The enabled external providers: starts authorizations and identifies users. */
import type { Provider } from '../../../providers/core/provider.ts'
import type {
  AuthorizationRequest,
  Callback,
  ProviderAuthorization,
  ProviderHttp,
  ProviderIdentity,
  ProviderSettings,
} from '../../../providers/core/types.ts'
import { type IdTokenSignIn, identityFromIdToken } from '../../../providers/id-token.ts'
import type { IdTokenRequest } from '../../../providers/id-token-selection.ts'
import { createProviderHttp, providerHttpByName } from '../../../providers/provider-http.ts'
import {
  createOauthProvider,
  findVendor,
  providerNames,
  providerTitles,
} from '../../../providers/registry.ts'
import { oauthProviderNotSupported, validationFailed } from '../../../schemas/errors.ts'
import { definePlugin } from '../../define-plugin.ts'
import { maxWaitMs } from '../../http/request-deadline.ts'
import { createFindCustom, type FindCustom, isCustom, issuerOfCustom } from './custom.ts'
import { serveDevOidc } from './dev-oidc/index.ts'
import { authorizationError, callbackError, toCallbackError, toIdTokenApiError } from './errors.ts'
import { storeIssuers } from './issuers.ts'
import { createRenewable } from './renewable.ts'
import { allowedIssuers, issuerProviders, namedProviders } from './settings.ts'
import { createLookUp } from './usable.ts'
import { withTimeout } from './with-timeout.ts'

declare module 'fastify' {
  interface FastifyInstance {
    oauthProviders: ReturnType<typeof createOauthProviders>
  }
}

/** A client gets a response within three seconds. */
const metadataDeadlineMs = 2_500

/** Providers that use the same HTTP client and deadlines. */
interface Group {
  settings: ReadonlyMap<string, ProviderSettings>
  upstream: ProviderHttp
}

interface OauthProviderDeps {
  groups: readonly Group[]
  /** For an issuer's metadata and keys. One per provider, because clients may name enough tenants to fill a cache. */
  getIdTokenHttp(provider: string): ProviderHttp
  /** Issuers without a provider, each with its audiences. */
  allowedIssuers: ReadonlyMap<string, readonly string[]>
  /** Providers that admins add at run time. */
  findCustom?: FindCustom
  /** For all requests to a provider in one step, so that the browser gets a timely response. */
  deadlineMs: number
  /** For steps that fetch metadata and keys only: a healthy provider responds quickly. */
  metadataDeadlineMs: number
}

export function createOauthProviders(deps: OauthProviderDeps) {
  const { groups, findCustom = async () => undefined } = deps
  const settings = new Map(groups.flatMap((group) => [...group.settings]))
  const providers = new Map(groups.flatMap(createAll))
  const lookUp = createLookUp({ settings, providers, findCustom })
  const { find } = lookUp

  return {
    /** Every provider name in lower case, and whether it is enabled. */
    switches: Object.fromEntries(
      [...new Set([...providerNames, ...settings.keys()])].map((name) => [
        name,
        settings.has(name),
      ]),
    ),

    /** The provider's display name. */
    getTitle: (name: string): string => providerTitles.get(name) ?? name,

    /**
     * Finds a provider by name (any case): its name in lower case, and whether it may lack an email address. Throws
     * validation_failed unless it is enabled.
     */
    async resolve(name: string): Promise<{ provider: string; emailOptional: boolean }> {
      const known = name.toLowerCase()
      if (known === '') throw validationFailed('provider is missing')
      const { emailOptional } = (await find(known))?.settings ?? {}
      if (emailOptional !== undefined) return { provider: known, emailOptional }
      throw validationFailed(
        findVendor(known)
          ? 'Unsupported provider: provider is not enabled'
          : 'Unsupported provider: provider could not be found',
      )
    },

    /** Throws oauth_provider_not_supported unless the provider is still enabled. */
    async checkSupported(name: string): Promise<void> {
      if (!(await find(name))) throw oauthProviderNotSupported('The provider is not enabled')
    },

    toCallbackError,
    ...createSignIns(deps, lookUp),
  }
}

/** The steps of a sign-in that call the provider. */
function createSignIns(
  deps: OauthProviderDeps,
  { get, forIdTokens }: ReturnType<typeof createLookUp>,
) {
  const { getIdTokenHttp: getProviderHttp, allowedIssuers, deadlineMs, metadataDeadlineMs } = deps

  return {
    /** Returns the authorization URL. Throws validation_failed for an unusable provider, service_unavailable. */
    async start(name: string, request: AuthorizationRequest): Promise<ProviderAuthorization> {
      try {
        const { provider } = await get(name)
        return await withTimeout(provider.authorizationUrl(request), metadataDeadlineMs)
      } catch (error) {
        throw authorizationError(error, name)
      }
    },

    /**
     * Identifies the user of a callback. Throws bad_oauth_callback, service_unavailable, or unexpected_failure with the
     * reason as its cause.
     */
    async identify(name: string, callback: Callback): Promise<ProviderIdentity> {
      try {
        const { provider, settings } = await get(name)
        const identity = await withTimeout(provider.identity(callback), deadlineMs)
        return { ...identity, issuer: issuerOfCustom(settings) }
      } catch (error) {
        throw callbackError(error, name)
      }
    },

    /**
     * Identifies the user of an id_token. Throws validation_failed, provider_disabled, service_unavailable,
     * unexpected_failure.
     */
    async identifyByIdToken(request: IdTokenRequest, now: Date): Promise<IdTokenSignIn> {
      try {
        const known = await forIdTokens(request.provider)
        const context = { getProviderHttp, providers: known, allowedIssuers, now }
        const signIn = await withTimeout(identityFromIdToken(request, context), metadataDeadlineMs)
        const issuer = issuerOfCustom(known.get(signIn.provider))
        return { ...signIn, identity: { ...signIn.identity, issuer } }
      } catch (error) {
        const { provider, issuer = '' } = request
        throw toIdTokenApiError(error, provider || issuer)
      }
    },
  }
}

function createAll({ settings, upstream }: Group): [string, Provider][] {
  return [...settings].flatMap(([name, values]) => {
    const provider = createOauthProvider(name, values, upstream)
    return provider ? [[name, provider] satisfies [string, Provider]] : []
  })
}

export default definePlugin({
  name: 'oauthProviders',
  deps: [
    ...(['config', 'db', 'encryption', 'httpClient', 'log'] as const),
    ...(['addHook', 'register', 'runtimeSettings'] as const),
  ],
  async create(deps) {
    const { config } = deps
    const { fetch, guardedFetch } = deps.httpClient
    const limits = {
      timeoutMs: config.AUTH_INTERNAL_HTTP_TIMEOUT * 1000,
      discoverySeconds: config.AUTH_EXTERNAL_OIDC_PROVIDER_CACHE_TTL,
    }
    const named = createProviderHttp({ fetch, discoveryFetch: guardedFetch, ...limits })
    // Their metadata may name any address, so every fetch is guarded.
    const createGuarded = () => createProviderHttp({ fetch: guardedFetch, ...limits })
    const guarded = createGuarded()
    const generic = issuerProviders(config)
    const deadlineMs = maxWaitMs(config)
    const dev = await serveDevOidc(deps)
    const make = () =>
      createOauthProviders({
        groups: [
          { settings: namedProviders(config), upstream: named },
          { settings: generic, upstream: guarded },
          { settings: new Map(dev ? [['dev', dev]] : []), upstream: named },
        ],
        // A provider with a fixed issuer shares metadata and keys with its own sign-ins.
        getIdTokenHttp: providerHttpByName(
          (name) => (isCustom(name) ? guarded : createGuarded()),
          new Map([...generic.keys()].map((name) => [name, guarded])),
        ),
        findCustom: createFindCustom(deps, guarded),
        allowedIssuers: allowedIssuers(config),
        deadlineMs,
        metadataDeadlineMs: Math.min(deadlineMs, metadataDeadlineMs),
      })
    const { renewed, renew } = createRenewable(make)
    deps.runtimeSettings.onChange(renew)
    const configured = new Map([...namedProviders(config), ...generic])
    deps.addHook('onReady', () => storeIssuers(deps, configured))
    return renewed
  },
})

export type { FlowSecrets, ProviderIdentity } from '../../../providers/core/types.ts'
