import { baseUrl } from '../base-url.ts'
import { email } from '../identity.ts'
import { at, record, text } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

const custom = ['resource_owner_id', 'organizations', 'application', 'scope', 'created_at']

export const fly: Vendor = {
  name: 'Fly.io',
  docs: {
    title: 'Fly.io',
    register: 'https://fly.io/ (as an extension provider)',
    steps: ['Fly.io issues client id and secret to its partners; give them the redirect URI.'],
    scopes: 'read',
    url: 'replaces api.fly.io',
    notes: [],
  },

  create(settings, upstream) {
    const api = baseUrl(settings, 'https://api.fly.io')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${api}/oauth/authorize`, token: `${api}/oauth/token` }),
      scopes: ['read'],
      async profile({ get }) {
        const info = record(await get(`${api}/oauth/token/info`))
        const sub = text(info.user_id)
        const present = custom.filter((name) => info[name] !== undefined)
        return {
          sub,
          claims: {
            iss: api,
            sub,
            provider_id: sub,
            full_name: text(at(info, 'user_name')),
            custom_claims: Object.fromEntries(present.map((name) => [name, info[name]])),
          },
          emails: email(text(info.email), { verified: true }),
        }
      },
    })
  },
}
