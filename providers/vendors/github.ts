import { baseUrl } from '../base-url.ts'
import { email, person } from '../identity.ts'
import { at, list, text, truth } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import { unlessRefused } from '../optional.ts'
import type { Vendor } from '../provider.ts'

export const github: Vendor = {
  name: 'GitHub',
  docs: {
    title: 'GitHub',
    register: 'https://github.com/settings/developers',
    steps: ['Register an OAuth app; the redirect URI is its "Authorization callback URL".'],
    scopes: 'user:email',
    url: 'address of a GitHub Enterprise Server; its API is looked for below `/api/v3`',
    notes: [
      'A GitHub App works as well when its account permission "Email addresses" is read-only.',
      'The address is the primary one of the account, whether it is public or not.',
      'A GitHub App without that permission tells the public address at most, which then counts as unproven.',
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
        const listed = await unlessRefused(get(`${api}/user/emails`))
        const id = text(at(user, 'id'))
        const login = text(at(user, 'login'))
        const avatar_url = text(at(user, 'avatar_url'))
        const names = { preferred_username: login, user_name: login }
        return {
          sub: id,
          claims: { ...person(id, text(at(user, 'name'))), ...names, avatar_url, iss: api },
          emails: listed === undefined ? publicEmail(user) : list(listed).flatMap(toEmail),
        }
      },
    })
  },
}

function toEmail(entry: unknown) {
  const [verified, primary] = [truth(at(entry, 'verified')), truth(at(entry, 'primary'))]
  return email(text(at(entry, 'email')), { verified, primary })
}

/** What the profile shows is all there is where the list may not be read; nothing says that it is proven. */
function publicEmail(user: unknown) {
  return email(text(at(user, 'email')), { verified: false })
}
