import { baseUrl } from '../base-url.ts'
import { email, person } from '../identity.ts'
import { at, text } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

export const figma: Vendor = {
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
        const id = text(at(user, 'id'))
        const avatar_url = text(at(user, 'img_url'))
        return {
          sub: id,
          claims: { ...person(id, text(at(user, 'handle'))), avatar_url, iss: api },
          emails: email(text(at(user, 'email')), { verified: true }),
        }
      },
    })
  },
}
