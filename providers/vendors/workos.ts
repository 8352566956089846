import { email, fullName, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

export const workos: NamedProviderDefinition = {
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
      'Every sign-in needs one query parameter: `connection`, `organization`, or `workos_provider` (for example GoogleOAuth, authkit).',
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
        const user = getPath(tokens.reply, 'profile')
        const id = asText(getPath(user, 'id'))
        const name = fullName(
          asText(getPath(user, 'first_name')),
          asText(getPath(user, 'last_name')),
        )
        const custom_claims = {
          connection_id: asText(getPath(user, 'connection_id')),
          organization_id: asText(getPath(user, 'organization_id')),
        }
        return {
          sub: id,
          claims: { ...toProfileNames(id, name), iss: api, custom_claims },
          emails: email(asText(getPath(user, 'email')), { verified: true }),
        }
      },
    })
  },
}
