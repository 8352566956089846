export interface TakeoverTable {
  only_row: boolean
  state: TakeoverState
  began_at: Date
  finished_at: Date | null
}

/** 'shared' while GoTrue may be used on this database again, 'own' otherwise. */
type TakeoverState = 'shared' | 'own'
