import { email } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asRecord, asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

const custom = ['resource_owner_id', 'organizations', 'application', 'scope', 'created_at']

export const fly: NamedProviderDefinition = {
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
        const info = asRecord(await get(`${api}/oauth/token/info`))
        const sub = asText(info.user_id)
        const present = custom.filter((name) => info[name] !== undefined)
        return {
          sub,
          claims: {
            iss: api,
            sub,
            provider_id: sub,
            full_name: asText(getPath(info, 'user_name')),
            custom_claims: Object.fromEntries(present.map((name) => [name, info[name]])),
          },
          emails: email(asText(info.email), { verified: true }),
        }
      },
    })
  },
}
