/** The buttons of external providers. */
import { linkFlow } from '../../../modules/pages/index.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'

interface Button {
  name: string
  url: string
}

/** The enabled providers. Their links lead to the provider, and back to the pages in this browser. */
export function providersFor(
  deps: Deps<'config' | 'encryption' | 'oauthProviders'>,
  cookie: string,
  next: string,
): Button[] {
  const { config, oauthProviders } = deps
  const flow = linkFlow(deps, cookie, next)
  const on = Object.entries(oauthProviders.switches).filter(([, isOn]) => isOn)
  return on.map(([provider]) => {
    const query = new URLSearchParams({ provider, ...flow })
    return {
      name: oauthProviders.getTitle(provider),
      url: `${config.AUTH_API_EXTERNAL_URL}/authorize?${query}`,
    }
  })
}
