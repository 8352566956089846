/** The enabled external providers: starts authorizations and identifies users. */
import { bindIssuer, findIssuers } from '../../../db/custom-providers/providers.ts'
import type { Provider } from '../../../providers/core/provider.ts'
import type { ProviderHttp, ProviderSettings } from '../../../providers/core/types.ts'
import { createProviderHttp, providerHttpByName } from '../../../providers/provider-http.ts'
import {
  createOauthProvider,
  findVendor,
  providerNames,
  providerTitles,
} from '../../../providers/registry.ts'
import {
  badOauthCallback,
  oauthProviderNotSupported,
  validationFailed,
} from '../../../schemas/errors.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { maxWaitMs } from '../../http/request-deadline.ts'
import { createFindCustom, type FindCustom, isCustom, reportSharedCallback } from './custom.ts'
import { serveDevOidc } from './dev-oidc/index.ts'
import { toCallbackError } from './errors.ts'
import { isOfAnother, type ReceivedCallback } from './mix-up.ts'
import { allowedIssuers, issuerProviders, namedProviders } from './settings.ts'
import { createSignIns, type SignInDeps } from './sign-ins.ts'
import { createLookUp } from './usable.ts'

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

interface OauthProviderDeps extends SignInDeps {
  groups: readonly Group[]
  /** Providers that admins add at run time. */
  findCustom?: FindCustom
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
          ? `Unsupported provider: provider is not enabled (AUTH_EXTERNAL_${known.toUpperCase()}_ENABLED)`
          : 'Unsupported provider: provider could not be found',
      )
    },

    /**
     * Checks a callback before anything is sent to the provider. Throws oauth_provider_not_supported unless it is still
     * enabled, and bad_oauth_callback for a response of another provider.
     */
    async checkCallback(name: string, received: ReceivedCallback): Promise<void> {
      const found = await find(name)
      if (!found) throw oauthProviderNotSupported('The provider is not enabled')
      if (isOfAnother({ name, settings: found.settings }, received, settings)) {
        throw badOauthCallback('The callback belongs to another provider')
      }
    },

    toCallbackError,
    ...createSignIns(deps, lookUp),
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
    deps.addHook('onReady', async () => {
      await storeIssuers(deps, configured)
      await reportSharedCallback(deps)
    })
    return renewed
  },
})

export type { FlowSecrets, ProviderIdentity } from '../../../providers/core/types.ts'

/** Stands for the usual host of a provider. */
const usual = 'default'

/**
 * Stores where the identities of each provider come from; it stays while there are any. Warns at each start of a provider
 * whose issuer or URL was changed in the configuration while users have identities.
 */
async function storeIssuers(
  { db, log }: Deps<'db' | 'log'>,
  providers: ReadonlyMap<string, ProviderSettings>,
): Promise<void> {
  if (providers.size === 0) return
  const known = await findIssuers(db, [...providers.keys()])
  for (const [provider, { issuer: named, url }] of providers) {
    const issuer = named ?? url ?? usual
    const before = known.get(provider)
    if (before === issuer) continue
    const binding = { identifier: provider, issuer }
    if (await db.transaction().execute((trx) => bindIssuer(trx, binding))) continue
    log.error({ provider, issuer, before }, 'provider has identities of another issuer')
  }
}

/** An object that is rebuilt when its inputs change, behind a stable reference. */
function createRenewable<Made extends object>(make: () => Made) {
  let current = make()
  return {
    renewed: new Proxy(current, { get: (_first, name) => Reflect.get(current, name) }),
    renew(): void {
      current = make()
    },
  }
}
