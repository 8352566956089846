/** Providers and hooks as operators see them. */
import { type Static, Type } from '@sinclair/typebox'

import { nullable, StringEnum } from '../values/choices.ts'

const Text = Type.String()

export const ProviderSummary = Type.Object(
  {
    name: Text,
    title: Text,
    kind: StringEnum(['built-in', 'oidc', 'custom']),
    enabled: Type.Boolean(),
    callback_url: Type.String({ description: 'To register with the provider' }),
    client_id: nullable(Text),
    has_secret: Type.Boolean(),
    issuer: nullable(Text),
  },
  { title: 'ProviderSummary' },
)
export type ProviderSummary = Static<typeof ProviderSummary>

export const ProviderSummaries = Type.Object({ providers: Type.Array(ProviderSummary) })

export const ProviderTest = Type.Object({
  ok: Type.Boolean(),
  steps: Type.Array(Type.Object({ step: Text, ok: Type.Boolean(), detail: Text })),
})

export const HookSummaries = Type.Object({
  hooks: Type.Array(
    Type.Object({
      name: Text,
      enabled: Type.Boolean(),
      uri: nullable(Text),
      has_secret: Type.Boolean(),
      calls: Type.Integer({ description: 'In the last 24 hours' }),
      failures: Type.Integer(),
    }),
  ),
})
