/** The usable providers: configured ones, and those that admins add at run time. */
import type { Provider } from '../../../providers/core/provider.ts'
import type { ProviderSettings } from '../../../providers/core/types.ts'
import { providerDisabled } from '../../../schemas/errors.ts'
import { type FindCustom, isCustom } from './custom.ts'

interface Usable {
  provider: Provider
  settings: ProviderSettings
}

interface LookUpDeps {
  settings: ReadonlyMap<string, ProviderSettings>
  providers: ReadonlyMap<string, Provider>
  findCustom: FindCustom
}

export function createLookUp({ settings, providers, findCustom }: LookUpDeps) {
  /** Undefined unless it is enabled. */
  async function find(name: string): Promise<Usable | undefined> {
    const custom = isCustom(name) ? await findCustom(name) : undefined
    if (custom) {
      const { enabled, provider, settings: values } = custom
      return enabled && provider ? { provider, settings: values } : undefined
    }
    const [provider, values] = [providers.get(name), settings.get(name)]
    return provider && values && { provider, settings: values }
  }

  return {
    find,

    /** Throws provider_disabled. */
    async get(name: string): Promise<Usable> {
      const provider = await find(name)
      if (!provider) throw providerDisabled('The provider is not enabled')
      return provider
    },

    /** The providers whose id_tokens are accepted, including the named one. Throws provider_disabled. */
    async forIdTokens(name = ''): Promise<ReadonlyMap<string, ProviderSettings>> {
      const known = name.toLowerCase()
      const custom = isCustom(known) ? await findCustom(known) : undefined
      if (!custom) return settings
      if (!custom.enabled) throw providerDisabled('The provider is not enabled')
      return new Map([...settings, [known, custom.settings]])
    },
  }
}
