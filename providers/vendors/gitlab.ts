import { baseUrl } from '../base-url.ts'
import { email, person } from '../identity.ts'
import { at, list, text } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import { atBest } from '../optional.ts'
import type { Vendor } from '../provider.ts'

export const gitlab: Vendor = {
  name: 'GitLab',
  docs: {
    title: 'GitLab',
    register: 'https://gitlab.com/-/user_settings/applications',
    steps: ['Add a confidential application with the scope `read_user`.'],
    scopes: 'read_user',
    url: 'address of a self-managed GitLab',
    notes: ['Only the primary address can be verified; further ones never count as such.'],
  },

  create(settings, upstream) {
    const host = baseUrl(settings, 'https://gitlab.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${host}/oauth/authorize`, token: `${host}/oauth/token` }),
      scopes: ['read_user'],
      pkce: true,
      async profile({ get }) {
        const user = await get(`${host}/api/v4/user`)
        // They prove nothing, so that nobody is kept out who has no right to read them.
        const further = list(await atBest(get(`${host}/api/v4/user/emails`)))
        const id = text(at(user, 'id'))
        const picture = text(at(user, 'avatar_url'))
        const confirmed = text(at(user, 'confirmed_at')) !== ''
        return {
          sub: id,
          claims: { ...person(id, text(at(user, 'name')), picture), iss: host },
          emails: [
            ...email(text(at(user, 'email')), { verified: confirmed }),
            ...further.flatMap((entry) =>
              email(text(at(entry, 'email')), { verified: false, primary: false }),
            ),
          ],
        }
      },
    })
  },
}
