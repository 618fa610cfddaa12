/** Short forms that people use at work, from common knowledge: "robert bob rob" lists the likeliest first. */
const ROWS = `
  alexander alex
  alexandra alex
  andrew andy
  anthony tony
  benjamin ben
  catherine cathy kate
  christina chris
  christine chris
  christopher chris
  daniel dan
  david dave
  deborah debbie
  donald don
  douglas doug
  edward ed
  elizabeth liz beth
  frederick fred
  gregory greg
  jacob jake
  james jim
  jeffrey jeff
  jennifer jen
  jonathan jon
  joseph joe
  joshua josh
  katherine kate kathy
  kenneth ken
  kimberly kim
  lawrence larry
  leonard len
  margaret maggie
  matthew matt
  maximilian max
  michael mike
  nathan nate
  nathaniel nathan
  nicholas nick
  pamela pam
  patricia pat
  patrick pat
  peter pete
  philip phil
  phillip phil
  raymond ray
  rebecca becky
  richard rich rick
  robert rob bob
  ronald ron
  samantha sam
  samuel sam
  sebastian seb
  stephanie steph
  stephen steve
  steven steve
  stuart stu
  susan sue
  theodore ted
  thomas tom
  timothy tim
  victoria vicky
  vincent vince
  walter walt
  william bill will
  zachary zach
`;

export const NICKNAMES: ReadonlyMap<string, readonly string[]> = new Map(
  ROWS.trim()
    .split("\n")
    .map((row) => {
      const [name = "", ...short] = row.trim().split(" ");
      return [name, short];
    }),
);
