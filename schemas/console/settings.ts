/** Settings and variables as operators see them. */
import { type Static, Type } from '@sinclair/typebox'

import { nullable, StringEnum } from '../values/choices.ts'
import { Timestamp } from '../values/timestamp.ts'

const Text = Type.String()
const Source = StringEnum(['environment', 'settings', 'default'], {
  description: 'The source of the value',
})

export const Setting = Type.Object(
  {
    name: Text,
    group: Text,
    description: Text,
    type: Text,
    value: nullable(Type.String({ description: 'Null for a secret, and without a value' })),
    default: nullable(Text),
    secret: Type.Boolean(),
    source: Source,
    locked: Type.Boolean({ description: 'Set in the environment' }),
    updated_at: nullable(Timestamp),
    updated_by: nullable(Text),
  },
  { title: 'Setting' },
)
export type Setting = Static<typeof Setting>

export const Settings = Type.Object(
  { settings: Type.Array(Setting) },
  { title: 'ChangeableSettings' },
)

const SettingChange = Type.Object(
  {
    id: Type.Integer(),
    name: Text,
    before: nullable(Type.String({ description: 'Null for a secret, and for the default' })),
    after: nullable(Text),
    secret: Type.Boolean(),
    changed_by: nullable(Text),
    changed_at: Timestamp,
    reverts: nullable(Type.Integer({ description: 'The change that this one reverted' })),
  },
  { title: 'SettingChange' },
)

export const SettingChanges = Type.Object({
  changes: Type.Array(SettingChange),
  next: nullable(Type.Integer({ description: 'For `before`; null at the end' })),
})

export const Variable = Type.Object(
  {
    name: Text,
    group: Text,
    description: Text,
    type: Text,
    default: nullable(Text),
    value: nullable(Type.String({ description: 'Null for a secret, and without a value' })),
    secret: Type.Boolean(),
    set: Type.Boolean(),
    source: Source,
    changeable: Type.Boolean({ description: 'At run time, with PUT /admin/settings' }),
    doc: Text,
  },
  { title: 'Variable' },
)
export type Variable = Static<typeof Variable>

export const Variables = Type.Object({ variables: Type.Array(Variable) }, { title: 'Variables' })
