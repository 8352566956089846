import { type Static, Type } from '@sinclair/typebox'

import { User } from './user.ts'
import { nullable } from './values/choices.ts'

export const Session = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
    expires_at: Type.Integer({ description: 'Seconds since the Unix epoch' }),
    refresh_token: Type.String(),
    user: User,
    type: Type.Optional(Type.String({ description: 'The type of the verified email link' })),
    provider_token: Type.Optional(Type.String()),
    provider_refresh_token: Type.Optional(Type.String()),
    weak_password: Type.Optional(
      nullable(Type.Object({ message: Type.String(), reasons: Type.Array(Type.String()) })),
    ),
  },
  { title: 'Session' },
)
export type Session = Static<typeof Session>
