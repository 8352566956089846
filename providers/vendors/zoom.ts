import { email, fullName, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

export const zoom: NamedProviderDefinition = {
  name: 'Zoom',
  docs: {
    title: 'Zoom',
    register: 'https://marketplace.zoom.us/develop/create',
    steps: [
      'Create a "General App" that is user-managed, and add the redirect URI.',
      'Add the scope `user:read:user` (older apps: `user:read`).',
    ],
    scopes: 'none',
    url: 'replaces zoom.us and api.zoom.us',
    notes: ['Extra scopes are ignored: Zoom grants the scopes of the app.'],
  },

  create(settings, upstream) {
    const web = baseUrl(settings, 'https://zoom.us')
    const api = `${baseUrl(settings, 'https://api.zoom.us')}/v2`
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${web}/oauth/authorize`, token: `${web}/oauth/token` }),
      scopes: [],
      extraScopes: false,
      pkce: true,
      async profile({ get }) {
        const user = await get(`${api}/users/me`)
        const id = asText(getPath(user, 'id'))
        const name = fullName(
          asText(getPath(user, 'first_name')),
          asText(getPath(user, 'last_name')),
        )
        return {
          sub: id,
          claims: { ...toProfileNames(id, name, asText(getPath(user, 'pic_url'))), iss: api },
          emails: email(asText(getPath(user, 'email')), { verified: isVerified(user) }),
        }
      },
    })
  },
}

/** Documented as a number, also sent in other forms. With several sign-in types none counts. */
function isVerified(user: unknown): boolean {
  const verified = getPath(user, 'verified')
  return asBoolean(verified) || asText(verified) === '1'
}
