import { readFileSync } from 'node:fs'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { parse } from 'yaml'

const Mutations = Type.Array(
  Type.Object({ row: Type.String(), find: Type.String(), replace: Type.String() }),
)

const text = readFileSync(new URL('source-mutations.yml', import.meta.url), 'utf8')

/** Mutations of behaviour, by the source text that implements it. */
export const sourceMutations = Value.Parse(Mutations, parse(text))
