import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

export const figma: NamedProviderDefinition = {
  name: 'Figma',
  docs: {
    title: 'Figma',
    register: 'https://www.figma.com/developers/apps',
    steps: ['Create an app, add the redirect URI and allow the scope `current_user:read`.'],
    scopes: 'current_user:read',
    url: 'replaces www.figma.com and api.figma.com',
    notes: [],
  },

  create(settings, upstream) {
    const api = baseUrl(settings, 'https://api.figma.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${baseUrl(settings, 'https://www.figma.com')}/oauth`,
        token: `${api}/v1/oauth/token`,
      }),
      scopes: ['current_user:read'],
      async profile({ get }) {
        const user = await get(`${api}/v1/me`)
        const id = asText(getPath(user, 'id'))
        const avatar_url = asText(getPath(user, 'img_url'))
        return {
          sub: id,
          claims: { ...toProfileNames(id, asText(getPath(user, 'handle'))), avatar_url, iss: api },
          emails: email(asText(getPath(user, 'email')), { verified: true }),
        }
      },
    })
  },
}
