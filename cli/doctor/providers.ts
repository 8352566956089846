/** Checks whether each enabled provider is reachable and knows the client id, without a sign-in. */
import { issuerProviders, namedProviders } from '../../plugins/outgoing/oauth-providers/settings.ts'
import { ProviderError } from '../../providers/core/provider-error.ts'
import { createProviderHttp } from '../../providers/provider-http.ts'
import { createOauthProvider } from '../../providers/registry.ts'
import {
  type DoctorContext,
  type DoctorFinding,
  describeError,
  fail,
  pass,
  warn,
} from './finding.ts'

const timeoutMs = 10_000

export async function checkProviders({
  config,
  fetch,
  now,
}: DoctorContext): Promise<DoctorFinding[]> {
  const upstream = createProviderHttp({ fetch, timeoutMs, discoverySeconds: 3600 })
  const settings = [...namedProviders(config), ...issuerProviders(config)]
  const found = settings.map(async ([name, values]): Promise<DoctorFinding> => {
    try {
      const provider = createOauthProvider(name, values, upstream)
      if (!provider) return fail(`${name} is not a known provider.`)
      const request = { state: 'doctor', scopes: [], params: {}, now }
      const { url } = await provider.authorizationUrl(request)
      return toFinding(name, await fetchStatus(url, fetch))
    } catch (error) {
      const reason = error instanceof ProviderError ? error.message : describeError(error)
      return fail(
        `${name} cannot be used (${reason}): check its URL and the outgoing network access.`,
      )
    }
  })
  return Promise.all(found)
}

/** The status of the provider's sign-in page. */
async function fetchStatus(url: URL, fetch: typeof globalThis.fetch): Promise<number> {
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, { redirect: 'manual', signal })
  await response.body?.cancel()
  return response.status
}

function toFinding(name: string, status: number): DoctorFinding {
  if (status < 400) return pass(`${name} is available and shows a sign-in page.`)
  if (status >= 500) return warn(`${name} returns status ${status}: the provider has a problem.`)
  return warn(
    `The authorization endpoint of ${name} returns status ${status}: check that client id and redirect URI are registered there. Some providers reject programs, so try it in a browser.`,
  )
}
