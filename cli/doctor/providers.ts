/** The providers that are switched on: whether each is there, and knows this client. Nobody signs in. */
import { issuerProviders, namedProviders } from '../../plugins/oauth-providers/settings.ts'
import { ProviderError } from '../../providers/provider.ts'
import { createProvider } from '../../providers/registry.ts'
import { createUpstream } from '../../providers/upstream.ts'
import { type Finding, fail, pass, reasonOf, type Surroundings, warn } from './finding.ts'

const timeoutMs = 10_000

export async function providers({ config, fetch, now }: Surroundings): Promise<Finding[]> {
  const upstream = createUpstream({ fetch, timeoutMs, discoverySeconds: 3600 })
  const settings = [...namedProviders(config), ...issuerProviders(config)]
  const found = settings.map(async ([name, values]): Promise<Finding> => {
    try {
      const provider = createProvider(name, values, upstream)
      if (!provider) return fail(`${name} is no provider that is known here.`)
      const request = { state: 'doctor', scopes: [], params: {}, now }
      const { url } = await provider.authorizationUrl(request)
      return judge(name, await statusOf(url, fetch))
    } catch (error) {
      const reason = error instanceof ProviderError ? error.message : reasonOf(error)
      return fail(
        `${name} cannot be used (${reason}): look at its address, and at the way out of this network.`,
      )
    }
  })
  return Promise.all(found)
}

/** Of the page that people are sent to. */
async function statusOf(url: URL, fetch: typeof globalThis.fetch): Promise<number> {
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, { redirect: 'manual', signal })
  await response.body?.cancel()
  return response.status
}

function judge(name: string, status: number): Finding {
  if (status < 400) return pass(`${name} answers, and takes people in.`)
  if (status >= 500) return warn(`${name} answers ${status}: it has trouble of its own.`)
  return warn(
    `${name} answers ${status} where people are sent to: look whether client id and redirect URI are registered there. Some providers refuse programs only, so try it in a browser.`,
  )
}
