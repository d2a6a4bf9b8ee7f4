"""Words that teams, products and environments are named after."""

from __future__ import annotations

from sregym_env.runtime.chance import Chance

WORDS = tuple(
    dict.fromkeys(
        """
        accounts acorn addressbook admin ads advisor affiliate agenda albatross alder alerts amber analytics anchor antelope
        apollo appeals appointments archive arcade argus arrow ash asset atlas atrium auctions audience audit aurora autumn avatar
        badger balance bamboo banking barley basket bazaar beacon beaver benefits billing birch bison blog bluebird bonus bookings
        booker borealis bramble branch breeze bridge broker budget buffalo builder bulletin buzzard cabinet cactus calendar
        campaign canary canopy captain caravan cardinal careers cargo carousel cart cascade cashier catalog cedar census chalk
        charter chat checkout chestnut chronicle cinnamon citadel claims clarity classifieds clover coach cobalt comet commerce
        compass compliance concierge condor content contracts copper coral corner coupons courier courses coyote crane credit
        crew crm cumulus currency customer cypress dahlia dashboard dates delivery delta depot desk devices diary digest
        directory discovery dispatch docs dolphin donations dove dragonfly drive dunes eagle echo editor elm ember emu enrich
        enrolment equity escrow estate events evergreen exchange expenses explorer export fable falcon fares feedback fennel fern
        ferry fidelity filing finance finch firefly fjord fleet flint flights forecast forest forge forms forum foundry fox
        franchise fraud freight fulfilment funds galaxy gallery gardens gazelle geneva gifts ginger glacier gondola goshawk
        granite grants gravity grove guide gull habitat halo hangar harbor harvest hawk hazel heather helpdesk hermes heron
        hickory highland horizon hub humanresources ibis identity import inbox indigo insights insurance intake inventory
        invoices iris island ivy jackal jasmine jasper journal journey juniper kestrel keystone kiosk kite koala lagoon landing
        lantern larch lark laurel leads learning ledger legal lemur lending leopard library licensing lichen lilac linden
        listings loans locator lodge logistics loyalty lupin lynx magnet magnolia mailer mallard mammoth mango manifest maple
        marina marketing marketplace marlin marmot media meerkat members memo mentor mercury meridian merlin messaging metering
        meteor migration mimosa mint mistral mobile monitor moose mosaic moss mountain music myrtle narwhal nebula nectar nectarine
        newsletter nightingale nimbus notes notifications nova nutmeg oak oasis obelisk ocelot octopus offers olive onboarding
        opal orca orchard orchid orders origami osprey otter outreach owl oyster packaging paddock palette panda panther papaya
        parcels partner passport patents payments payroll pebble pelican penguin pepper permits petition phoenix photos pine
        pioneer pipeline planner platypus plaza plum polar policies polls poppy portal postbox prairie pricing prism profile
        prospect publisher puffin puma quarry quartz quokka quotes rabbit rainbow rapids rates raven receipts recipes redwood
        referrals refunds registry reindeer rentals reports reservoir retail returns reviews rewards ridge river robin rosemary
        roster rover safari saffron sage sales salmon sandbox sapphire savanna schedule search seagull sequoia settlement shipping
        shoebill signup silver skylark sloth social solstice sparrow spruce stable staffing starling statements stock stork
        streaming studio subscriptions summit support surveys swallow swan sycamore tailor talent tariff tax telemetry tempo
        terrace thistle thunder tickets tiger timber timesheet toolbox topaz toucan tours tracker trade trails training
        transfers translate travel treasury trout tulip tundra umbra upload valley vault vendors venue verdant viper vision
        visitor volcano vouchers voyage wallet walnut walrus warehouse waypoint weather weaver webshop wellness whale wildcat
        willow windmill wishlist wolf wombat workflow wren yarrow yeti zebra zenith zephyr
        """.split()
    )
)
"""Team, product and code names."""

SUFFIXES = {"": 0.5, "-prod": 0.25, "-staging": 0.15, "-dev": 0.06, "-uat": 0.04}
"""What environments add to a namespace's name, and how often."""


def namespace_names(chance: Chance, count: int, taken: frozenset[str]) -> list[str]:
    """Names of different namespaces, none of them taken."""
    found: list[str] = []
    for index, word in enumerate(chance.sample("words", WORDS, 2 * count + len(taken))):
        name = word + chance.weighted(f"suffix{index}", SUFFIXES)
        if name not in taken and len(found) < count:
            found.append(name)
    return found
