import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asBoolean, asList, asText, getPath } from '../http/json.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

export const bitbucket: NamedProviderDefinition = {
  name: 'Bitbucket',
  docs: {
    title: 'Bitbucket',
    register: 'https://bitbucket.org/ (workspace settings, OAuth consumers)',
    steps: ['Add a consumer with the permissions Account: Email and Account: Read.'],
    scopes: 'account email',
    url: 'replaces bitbucket.org and api.bitbucket.org',
    notes: ['Extra scopes are ignored: Bitbucket grants the permissions of the consumer.'],
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
        const emails = asList(getPath(await get(`${api}/user/emails`), 'values'))
        const sub = asText(getPath(user, 'uuid'))
        const name = asText(getPath(user, 'display_name'))
        const picture =
          asText(getPath(user, 'avatar', 'href')) ||
          asText(getPath(user, 'links', 'avatar', 'href'))
        return {
          sub,
          claims: { ...toProfileNames(sub, name, picture), iss: api },
          emails: emails.flatMap((entry) =>
            email(asText(getPath(entry, 'email')), {
              verified: asBoolean(getPath(entry, 'is_confirmed')),
              primary: asBoolean(getPath(entry, 'is_primary')),
            }),
          ),
        }
      },
    })
  },
}
