/** Submitted forms of the hosted pages and their answers. */
import type { Db } from '../core/database.ts'
import type { PageSubmissionsTable } from '../tables/page-sessions.ts'

/** A form with the values that were submitted. */
export type PageSubmission = Pick<PageSubmissionsTable, 'slot' | 'id'>

/** Returns false for a submission that was made before and has not expired. */
export async function claimPageSubmission(
  db: Db,
  submission: PageSubmission,
  expiresAt: Date,
  now: Date,
): Promise<boolean> {
  const values = { ...submission, answer: null, expires_at: expiresAt }
  const result = await db
    .insertInto('postern_page_submissions')
    .values(values)
    .onConflict((conflict) =>
      conflict
        .column('slot')
        .doUpdateSet(values)
        .where((eb) =>
          eb.or([
            eb('postern_page_submissions.id', '!=', submission.id),
            eb('postern_page_submissions.expires_at', '<=', now),
          ]),
        ),
    )
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Undefined for one that was never made, has expired or was replaced. */
export function findPageSubmission(
  db: Db,
  { slot, id }: PageSubmission,
  now: Date,
): Promise<Pick<PageSubmissionsTable, 'answer'> | undefined> {
  return db
    .selectFrom('postern_page_submissions')
    .select('answer')
    .where('slot', '=', slot)
    .where('id', '=', id)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Stores the answer, unless another submission has replaced this one. */
export async function storePageAnswer(
  db: Db,
  { slot, id }: PageSubmission,
  answer: string,
  expiresAt: Date,
): Promise<void> {
  await db
    .updateTable('postern_page_submissions')
    .set({ answer, expires_at: expiresAt })
    .where('slot', '=', slot)
    .where('id', '=', id)
    .execute()
}

/** The form can be submitted again. */
export async function deletePageSubmission(db: Db, { slot, id }: PageSubmission): Promise<void> {
  await db
    .deleteFrom('postern_page_submissions')
    .where('slot', '=', slot)
    .where('id', '=', id)
    .execute()
}
