import { baseUrl } from '../base-url.ts'
import { email, fullName, person } from '../identity.ts'
import { at, text, truth } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

/** Signed up at Zoom with an address and a password, which is when `verified` means something. */
const byAddress = '100'

export const zoom: Vendor = {
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
    notes: ['Extra scopes are ignored: Zoom grants what the app was registered with.'],
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
        const id = text(at(user, 'id'))
        const name = fullName(text(at(user, 'first_name')), text(at(user, 'last_name')))
        const unproven = text(at(user, 'login_type')) === byAddress && !isVerified(user)
        return {
          sub: id,
          claims: { ...person(id, name, text(at(user, 'pic_url'))), iss: api },
          emails: email(text(at(user, 'email')), { verified: !unproven }),
        }
      },
    })
  },
}

/** Documented as a number; other forms have been met. */
function isVerified(user: unknown): boolean {
  const verified = at(user, 'verified')
  return truth(verified) || text(verified) === '1'
}
