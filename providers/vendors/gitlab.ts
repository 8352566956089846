import { email, toProfileNames } from '../core/identity.ts'
import type { NamedProviderDefinition } from '../core/provider.ts'
import { baseUrl } from '../http/base-url.ts'
import { asList, asText, getPath } from '../http/json.ts'
import { orUndefined } from '../http/request.ts'
import { oauth2Provider } from '../oauth/oauth2.ts'

export const gitlab: NamedProviderDefinition = {
  name: 'GitLab',
  docs: {
    title: 'GitLab',
    register: 'https://gitlab.com/-/user_settings/applications',
    steps: ['Add a confidential application with the scope `read_user`.'],
    scopes: 'read_user',
    url: 'URL of a self-managed GitLab',
    notes: ['Only the primary address counts as verified.'],
  },

  create(settings, upstream) {
    const host = baseUrl(settings, 'https://gitlab.com')
    return oauth2Provider(settings, upstream, {
      endpoints: () => ({ authorize: `${host}/oauth/authorize`, token: `${host}/oauth/token` }),
      scopes: ['read_user'],
      pkce: true,
      async profile({ get }) {
        const user = await get(`${host}/api/v4/user`)
        // Optional, as these addresses are unverified and not every user may list them.
        const further = asList(await orUndefined(get(`${host}/api/v4/user/emails`)))
        const id = asText(getPath(user, 'id'))
        const picture = asText(getPath(user, 'avatar_url'))
        const confirmed = asText(getPath(user, 'confirmed_at')) !== ''
        return {
          sub: id,
          claims: { ...toProfileNames(id, asText(getPath(user, 'name')), picture), iss: host },
          emails: [
            ...email(asText(getPath(user, 'email')), { verified: confirmed }),
            ...further.flatMap((entry) =>
              email(asText(getPath(entry, 'email')), { verified: false, primary: false }),
            ),
          ],
        }
      },
    })
  },
}
