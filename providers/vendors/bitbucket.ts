import { baseUrl } from '../base-url.ts'
import { email, person } from '../identity.ts'
import { at, list, text, truth } from '../json.ts'
import { oauth2Provider } from '../oauth2.ts'
import type { Vendor } from '../provider.ts'

export const bitbucket: Vendor = {
  name: 'Bitbucket',
  docs: {
    title: 'Bitbucket',
    register: 'https://bitbucket.org/ (workspace settings, OAuth consumers)',
    steps: ['Add a consumer with the permissions Account: Email and Account: Read.'],
    scopes: 'account email',
    url: 'replaces bitbucket.org and api.bitbucket.org',
    notes: ['Extra scopes are ignored: Bitbucket grants what the consumer was registered with.'],
  },

  create(settings, upstream) {
    const web = baseUrl(settings, 'https://bitbucket.org')
    const api = `${baseUrl(settings, 'https://api.bitbucket.org')}/2.0`
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({
        authorize: `${web}/site/oauth2/authorize`,
        token: `${web}/site/oauth2/access_token`,
      }),
      scopes: ['account', 'email'],
      extraScopes: false,
      async profile({ get }) {
        const user = await get(`${api}/user`)
        const emails = list(at(await get(`${api}/user/emails`), 'values'))
        const sub = text(at(user, 'uuid'))
        const name = text(at(user, 'display_name'))
        const picture =
          text(at(user, 'avatar', 'href')) || text(at(user, 'links', 'avatar', 'href'))
        return {
          sub,
          claims: { ...person(sub, name, picture), iss: api },
          emails: emails.flatMap((entry) =>
            email(text(at(entry, 'email')), {
              verified: truth(at(entry, 'is_confirmed')),
              primary: truth(at(entry, 'is_primary')),
            }),
          ),
        }
      },
    })
  },
}
