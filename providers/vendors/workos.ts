import { baseUrl } from '../base-url.ts'
import { email, fullName, person } from '../identity.ts'
import { at, text } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

export const workos: Vendor = {
  name: 'WorkOS',
  docs: {
    title: 'WorkOS',
    register: 'https://dashboard.workos.com/',
    steps: [
      'Add the redirect URI under "Redirects".',
      'The client id is on the page "API keys"; the secret is an API key.',
    ],
    scopes: 'none',
    url: 'replaces api.workos.com',
    notes: [
      'Every sign-in names its way in by one query parameter: `connection`, `organization`, or `workos_provider` (for example GoogleOAuth, authkit).',
      'Extra scopes are ignored.',
    ],
  },

  create(settings, upstream) {
    const api = baseUrl(settings, 'https://api.workos.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${api}/sso/authorize`, token: `${api}/sso/token` }),
      scopes: [],
      extraScopes: false,
      profile({ tokens }) {
        const user = at(tokens.reply, 'profile')
        const id = text(at(user, 'id'))
        const name = fullName(text(at(user, 'first_name')), text(at(user, 'last_name')))
        const custom_claims = {
          connection_id: text(at(user, 'connection_id')),
          organization_id: text(at(user, 'organization_id')),
        }
        return {
          sub: id,
          claims: { ...person(id, name), iss: api, custom_claims },
          emails: email(text(at(user, 'email')), { verified: true }),
        }
      },
    })
  },
}
