import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asList, asText, getPath } from '../http/json.ts'
import { undefinedIfRejected } from '../http/request.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

export const github: NamedProviderDefinition = {
  name: 'GitHub',
  docs: {
    title: 'GitHub',
    register: 'https://github.com/settings/developers',
    steps: ['Register an OAuth app; the redirect URI is its "Authorization callback URL".'],
    scopes: 'user:email',
    url: 'URL of a GitHub Enterprise Server; its API is expected below `/api/v3`',
    notes: [
      'A GitHub App also works if its account permission "Email addresses" is read-only.',
      'The address is the primary one of the account, whether it is public or not.',
      'A GitHub App without that permission has access to the public address only, which counts as unverified.',
    ],
  },

  create(settings, upstream) {
    const web = baseUrl(settings, 'https://github.com')
    const api = settings.url ? `${web}/api/v3` : 'https://api.github.com'
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${web}/login/oauth/authorize`,
        token: `${web}/login/oauth/access_token`,
      }),
      scopes: ['user:email'],
      pkce: true,
      async profile({ get }) {
        const user = await get(`${api}/user`)
        const listed = await undefinedIfRejected(get(`${api}/user/emails`))
        const id = asText(getPath(user, 'id'))
        const login = asText(getPath(user, 'login'))
        const avatar_url = asText(getPath(user, 'avatar_url'))
        const names = { preferred_username: login, user_name: login }
        return {
          sub: id,
          claims: {
            ...toProfileNames(id, asText(getPath(user, 'name'))),
            ...names,
            avatar_url,
            iss: api,
          },
          emails: listed === undefined ? publicEmail(user) : asList(listed).flatMap(toEmail),
        }
      },
    })
  },
}

function toEmail(entry: unknown) {
  const [verified, primary] = [
    asBoolean(getPath(entry, 'verified')),
    asBoolean(getPath(entry, 'primary')),
  ]
  return email(asText(getPath(entry, 'email')), { verified, primary })
}

/** Without access to the list of emails only the public one is known, unverified. */
function publicEmail(user: unknown) {
  return email(asText(getPath(user, 'email')), { verified: false })
}
