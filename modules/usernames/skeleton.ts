/** The skeleton of Unicode Technical Standard #39 §4: names that look alike have the same skeleton. */
import type { Username } from '../../db/usernames/usernames.ts'

export type ComputeSkeleton = (name: string) => Username['skeleton']

function createSkeleton(prototypes: Readonly<Record<string, string>>): ComputeSkeleton {
  const byCharacter = new Map(Object.entries(prototypes))
  return (name) =>
    [...name.normalize('NFD')]
      .filter((char) => !/\p{Default_Ignorable_Code_Point}/u.test(char))
      .map((char) => byCharacter.get(char) ?? char)
      .join('')
      .normalize('NFD')
}

/** The server's own implementation; the table is loaded only where usernames are enabled. */
export async function loadSkeleton(): Promise<ComputeSkeleton> {
  const { default: table } = await import('./confusables.json', { with: { type: 'json' } })
  return createSkeleton(table.prototypes)
}
