import { type Static, Type } from '@sinclair/typebox'

import { nullable } from './choices.ts'
import { User } from './user.ts'

export const Session = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
    expires_at: Type.Integer({ description: 'Seconds since the epoch' }),
    refresh_token: Type.String(),
    user: User,
    type: Type.Optional(Type.String({ description: 'Which email link was verified' })),
    provider_token: Type.Optional(Type.String()),
    provider_refresh_token: Type.Optional(Type.String()),
    weak_password: Type.Optional(
      nullable(Type.Object({ message: Type.String(), reasons: Type.Array(Type.String()) })),
    ),
  },
  { title: 'Session' },
)
export type Session = Static<typeof Session>
