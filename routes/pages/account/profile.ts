import type { FastifyInstance } from 'fastify'

import { type AccountPage, addAccountPage } from '../../../modules/account/index.ts'
import type { User } from '../../../schemas/user.ts'
import { getLanguageName } from '../../../schemas/values/language-name.ts'

const path = '/account/profile'

function profile({ languages }: FastifyInstance): AccountPage {
  return {
    path,
    summary: 'Name and language of the user',
    show: (visit, outcome, fields) =>
      visit.show(
        'account/profile',
        {
          title: 'profile',
          data: () => ({
            name: fields.name ?? nameIn(visit.user),
            locale: fields.locale ?? textIn(visit.user, 'locale'),
            languages: languages.available.map((tag) => ({ tag, name: getLanguageName(tag) })),
          }),
        },
        outcome,
      ),
    actions: {
      async save(visit, { name = '', locale = '' }) {
        const data = { name: name.trim() || null, locale: locale || null }
        await visit.call({ method: 'PUT', url: '/user', payload: { data } })
        return visit.leave(path, 'saved')
      },
    },
  }
}

/** The name that the user or a provider gave. */
export const nameIn = (user: User): string => textIn(user, 'name') || textIn(user, 'full_name')

function textIn({ user_metadata: metadata }: User, name: string): string {
  const value = metadata[name]
  return typeof value === 'string' ? value : ''
}

export default addAccountPage(profile)
